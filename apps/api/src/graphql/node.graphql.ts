import { MusterError } from '@muster/core';
import { builder } from './builder.ts';
import { type Context } from './context.ts';
import { spendNodes } from './connection.ts';
import { decodeId } from './ids.ts';
import { markNode, NodeRef } from './node.ts';

const MAX_IDS = 200;

/** null for what is no id, does not exist, or may not be read: the three look alike. */
async function findNode(id: string, { loaders, services, viewer }: Context): Promise<object | null> {
  const parts = decodeId(id);
  if (!parts) return null;
  const { kind, raw } = parts;
  const mark = <T extends object>(value: T | null | undefined, typeName: string): T | null =>
    value ? markNode(value, typeName) : null;
  switch (kind) {
    case 'ex':
      return mark(await loaders.execution.load(raw), 'Execution');
    case 'de':
      return mark(await loaders.decision.load(raw), 'DispatchDecision');
    case 'ev': {
      const [execution = '', sequence] = raw.split('-');
      return mark(await services.executionReads.event(execution, Number(sequence), viewer), 'ExecutionEvent');
    }
    case 'au':
      return mark(await services.audit.byId(raw, viewer), 'AuditEntry');
    case 'wk':
      return mark(services.workerReads.byId(Number(raw), viewer), 'Worker');
    case 'wf':
      return mark(await loaders.workflow.load(Number(raw)), 'Workflow');
    case 'wv':
      return mark(await loaders.version.load(Number(raw)), 'WorkflowVersion');
    case 'dp':
      return mark(services.deploymentReads.byId(Number(raw), viewer), 'Deployment');
    case 'pr':
      return mark(await loaders.principal.load(Number(raw)), 'Principal');
    case 'tk':
      return mark(await services.apiTokens.byId(Number(raw), viewer), 'ApiToken');
    case 'se':
      return mark(await services.loginSessions.byId(raw, viewer), 'LoginSession');
    case 'jt':
      return mark(await services.joinTokens.byId(Number(raw), viewer), 'JoinToken');
    case 'wc':
      return mark(await services.workerCredentials.byId(Number(raw), viewer), 'WorkerCredential');
    case 'sd':
      return mark(await loaders.schedule.load(Number(raw)), 'Schedule');
  }
}

builder.queryFields((t) => ({
  node: t.field({
    authScopes: { known: true },
    type: NodeRef,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, context) => findNode(id, context),
  }),
  nodes: t.field({
    authScopes: { known: true },
    type: [NodeRef],
    nullable: { list: false, items: true },
    args: { ids: t.arg.idList({ required: true }) },
    resolve: (_root, { ids }, context) => {
      if (ids.length > MAX_IDS)
        throw new MusterError('BAD_INPUT', `ids takes at most ${MAX_IDS} ids.`, { field: 'ids' });
      spendNodes(context, ids.length);
      return Promise.all(ids.map((id) => findNode(id, context)));
    },
  }),
}));
