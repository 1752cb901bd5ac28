import {
  formatPolicy,
  type JsonValue,
  MusterError,
  parsePolicyText,
  type PolicyProblem as Problem,
} from '@muster/core';
import { builder } from '../../graphql/builder.ts';
import { DispatchPreviewRef } from '../decision/preview-ref.ts';
import { ResourceRequestsInput } from '../workflow/workflow.graphql.ts';
import { type SelectorKeyView, selectorKeys } from './selector-keys.ts';

const PolicyStage = builder.enumType('PolicyStage', { values: ['ROUTING', 'AFFINITY', 'REQUESTS'] as const });
const ProblemSeverity = builder.enumType('ProblemSeverity', { values: ['ERROR', 'WARNING'] as const });
const SelectorKind = builder.enumType('SelectorKind', { values: ['LABEL', 'METRIC', 'META', 'SERVICE'] as const });

const PolicyProblem = builder.objectRef<Problem>('PolicyProblem').implement({
  description: 'Offsets are UTF-16 units from 0, the end exclusive; line and column count from 1.',
  fields: (t) => ({
    message: t.exposeString('message'),
    from: t.exposeInt('from'),
    to: t.exposeInt('to'),
    code: t.exposeString('code'),
    line: t.exposeInt('line'),
    column: t.exposeInt('column'),
    severity: t.expose('severity', { type: ProblemSeverity }),
  }),
});

interface Check {
  ok: boolean;
  spec: JsonValue;
  formatted: string | null;
  problems: readonly Problem[];
}

const PolicyCheck = builder.objectRef<Check>('PolicyCheck').implement({
  fields: (t) => ({
    ok: t.exposeBoolean('ok'),
    spec: t.field({ type: 'JSON', nullable: true, resolve: (check) => check.spec }),
    formatted: t.exposeString('formatted', { nullable: true }),
    problems: t.field({ type: [PolicyProblem], resolve: (check) => [...check.problems] }),
  }),
});

const SelectorKey = builder.objectRef<SelectorKeyView>('SelectorKey').implement({
  fields: (t) => ({
    kind: t.expose('kind', { type: SelectorKind }),
    key: t.exposeString('key'),
    workers: t.exposeInt('workers'),
    sampleValues: t.exposeStringList('sampleValues'),
  }),
});

const PreviewInput = builder.inputType('PreviewInput', {
  fields: (t) => ({
    workflow: t.string({ description: 'Either a registered workflow (namespace/name) …' }),
    routing: t.string({
      description: '… or its parts, as expression text. Beside a workflow they take the place of its own.',
    }),
    affinity: t.string(),
    requests: t.field({ type: ResourceRequestsInput }),
    runner: t.string(),
    targetRoles: t.stringList({ defaultValue: [] }),
    input: t.field({ type: 'JSON' }),
    routingInput: t.field({ type: 'RoutingInput' }),
    preferredWorker: t.string(),
    requiredWorker: t.string(),
    decision: t.id({
      description:
        'Score the candidates this decision kept, with the values it stored, instead of the live fleet. Routing input that the execution may have had is never used.',
    }),
    weights: t.floatList({
      required: { list: false, items: false },
      description: 'Weights by term index, for what-if without a new policy.',
    }),
  }),
});

builder.queryFields((t) => ({
  checkPolicy: t.field({
    authScopes: { signedIn: true },
    type: PolicyCheck,
    args: { text: t.arg.string({ required: true }), stage: t.arg({ type: PolicyStage, required: true }) },
    resolve: (_root, { text, stage }): Check => {
      const parsed = parsePolicyText(text, stage);
      if (!parsed.ok) return { ok: false, spec: null, formatted: null, problems: parsed.problems };
      return {
        ok: true,
        spec: parsed.spec,
        formatted: formatPolicy(parsed.spec, stage),
        problems: parsed.warnings,
      };
    },
  }),
  previewDispatch: t.field({
    authScopes: { permission: ['worker:*:read', 'workflow:{namespace}:{name}:read'] },
    type: DispatchPreviewRef,
    args: { input: t.arg({ type: PreviewInput, required: true }) },
    resolve: (_root, { input }, { services, viewer }) => services.previews.preview(input, viewer),
  }),
  selectorKeys: t.field({
    authScopes: { reads: 'worker:{name}:read' },
    type: [SelectorKey],
    description: 'What the live fleet really sends, for completion.',
    args: {
      kind: t.arg({ type: SelectorKind, required: true }),
      prefix: t.arg.string(),
      first: t.arg.int({ defaultValue: 50 }),
    },
    resolve: (_root, { kind, prefix, first }, { services, viewer }) => {
      const limit = first ?? 50;
      if (limit < 0 || limit > 200)
        throw new MusterError('BAD_INPUT', 'first must be from 0 to 200.', { field: 'first' });
      return selectorKeys(services.workerReads.all(viewer), kind, prefix ?? '', limit);
    },
  }),
}));
