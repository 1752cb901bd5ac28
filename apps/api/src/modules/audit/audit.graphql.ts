import { builder } from '../../graphql/builder.ts';
import { connectionType } from '../../graphql/connection.ts';
import { encodeId } from '../../graphql/ids.ts';
import { NodeRef } from '../../graphql/node.ts';
import { auditConnection } from './audit-list.ts';
import type { AuditRow } from './audit-row.ts';

const AuditEntry = builder.objectRef<AuditRow>('AuditEntry');
AuditEntry.implement({
  description: 'Who changed what. Entries are only added.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (entry) => encodeId('au', entry.id) }),
    at: t.expose('at', { type: 'DateTime' }),
    actor: t.exposeString('actor', { description: 'Name of the principal.' }),
    action: t.exposeString('action', { description: 'What was done: deployment.update, worker.cordon, token.revoke.' }),
    target: t.exposeString('target', {
      nullable: true,
      description: 'What it was done to, by kind and name: worker:w-7, deployment:chat.',
    }),
    address: t.exposeString('address', {
      nullable: true,
      description: 'Where the request came from; null: from within the server.',
    }),
    requestId: t.exposeString('requestId', { nullable: true }),
    before: t.expose('before', {
      type: 'JSON',
      nullable: true,
      description: 'What was changed, as it was; null: it was not there.',
    }),
    after: t.expose('after', { type: 'JSON', nullable: true, description: 'As it is since; null: it is no more.' }),
    position: t.exposeFloat('position', {
      nullable: true,
      description: 'Its place in the chain of hashes, from 1; null: not sealed yet.',
    }),
    sealed: t.boolean({ resolve: (entry) => entry.position !== null }),
  }),
});
const AuditEntryConnection = connectionType('AuditEntry', AuditEntry, { bounded: true });
const AuditFilter = builder.inputType('AuditFilter', {
  description: 'All are ANDed.',
  fields: (t) => ({
    actor: t.string(),
    action: t.string({ description: 'What actions begin with: deployment., worker.cordon.' }),
    target: t.string({ description: 'Kind and name: worker:w-7.' }),
    after: t.field({ type: 'DateTime', description: 'From this moment on.' }),
    before: t.field({ type: 'DateTime', description: 'Until before this moment.' }),
  }),
});

builder.queryFields((t) => ({
  auditEntries: t.field({
    authScopes: { permission: 'admin:audit:read' },
    type: AuditEntryConnection,
    description: 'Newest first.',
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      filter: t.arg({ type: AuditFilter }),
    },
    resolve: (_root, { filter, ...page }, context) => auditConnection(context, page, filter),
  }),
}));
