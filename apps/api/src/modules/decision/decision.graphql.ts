import type { CandidateRejection, DecisionCandidate, DecisionCell, DecisionTerm, RejectionCount } from '@muster/core';
import { explain } from '@muster/core';
import { builder } from '../../graphql/builder.ts';
import { decodeUuid, encodeId } from '../../graphql/ids.ts';
import { NodeRef } from '../../graphql/node.ts';
import { DecisionConnection, DecisionRef, ExecutionRef, WorkflowVersionRef } from '../../graphql/refs.ts';
import { decisionConnection, resolveDecisionFilter } from './decision-list.ts';
import { DispatchPreviewRef } from './preview-ref.ts';

const DecisionOutcome = builder.enumType('DecisionOutcome', { values: ['ASSIGNED', 'PARKED', 'FAILED'] as const });
const DecisionMethod = builder.enumType('DecisionMethod', { values: ['ROUTING', 'LEAST_LOADED', 'HINT'] as const });
const TieBreak = builder.enumType('TieBreak', { values: ['NONE', 'LOAD', 'NAME'] as const });
const RejectionReason = builder.enumType('RejectionReason', {
  description: 'Why a worker was left out. The filters run in the order of the documentation.',
  values: [
    'OFFLINE',
    'STALE',
    'UNHEALTHY',
    'CORDONED',
    'DRAINING',
    'NOT_BOUND_WORKER',
    'ROLE_MISMATCH',
    'NO_HANDLER',
    'RUNNER_MISSING',
    'RESOURCES_SHORT',
    'AFFINITY_UNMET',
    'NO_CAPACITY',
    'DISCONNECTED',
    'UNCLAIMED_BEFORE',
  ] as const,
});
const CellState = builder.enumType('CellState', {
  values: ['SCORED', 'MISSING', 'INACTIVE', 'GATED', 'WITHHELD'] as const,
});

const Cell = builder.objectRef<DecisionCell>('DecisionCell').implement({
  description:
    "One candidate × one term. value: what was read (null: nothing, or withheld). valueAgeMs: age of a metric when read. normalised: 0..1 before the weight. weighted: what went into the total. INACTIVE: the term's condition did not hold, or nobody has the value. GATED: a worker-state condition left this candidate out.",
  fields: (t) => ({
    state: t.expose('state', { type: CellState }),
    value: t.field({ type: 'JSON', nullable: true, resolve: (cell) => cell.value }),
    valueAgeMs: t.int({
      nullable: true,
      resolve: (cell) => (cell.valueAgeMs === null ? null : Math.round(cell.valueAgeMs)),
    }),
    normalised: t.exposeFloat('normalised', { nullable: true }),
    weighted: t.exposeFloat('weighted', { nullable: true }),
  }),
});
const Term = builder.objectRef<DecisionTerm>('DecisionTerm').implement({
  fields: (t) => ({
    text: t.exposeString('text'),
    weight: t.exposeFloat('weight'),
    active: t.exposeBoolean('active', { nullable: true, description: 'null where withheld.' }),
    withheld: t.exposeBoolean('withheld'),
    note: t.exposeString('note', { nullable: true }),
  }),
});
const Rejection = builder.objectRef<CandidateRejection>('CandidateRejection').implement({
  description: 'wanted and had are texts for people; both null where routing input is involved.',
  fields: (t) => ({
    reason: t.expose('reason', { type: RejectionReason }),
    message: t.exposeString('message'),
    wanted: t.exposeString('wanted', { nullable: true }),
    had: t.exposeString('had', { nullable: true }),
  }),
});
const Candidate = builder.objectRef<DecisionCandidate>('DecisionCandidate').implement({
  description:
    'total is the sum of the weighted cells. rejected: the filter that counts (the first), null where eligible.',
  fields: (t) => ({
    worker: t.exposeString('worker'),
    role: t.exposeString('role'),
    rank: t.exposeInt('rank', { nullable: true }),
    total: t.exposeFloat('total', { nullable: true }),
    load: t.exposeInt('load'),
    rejected: t.expose('rejected', { type: RejectionReason, nullable: true }),
    rejectedBecause: t.exposeString('rejectedBecause', { nullable: true }),
    cells: t.field({
      type: [Cell],
      description: 'One per term, in term order; empty where rejected.',
      resolve: (c) => [...c.cells],
    }),
    rejections: t.field({
      type: [Rejection],
      description:
        'The first is the one that counts; stored decisions hold only that one, previews and whyWaiting all of them.',
      resolve: (c) => [...c.rejections],
    }),
    instanceId: t.exposeString('instanceId', { nullable: true }),
    capacity: t.exposeInt('capacity', { nullable: true }),
  }),
});
const RejectionCountType = builder.objectRef<RejectionCount>('RejectionCount').implement({
  fields: (t) => ({ reason: t.expose('reason', { type: RejectionReason }), count: t.exposeInt('count') }),
});

DecisionRef.implement({
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (d) => encodeId('de', d.id) }),
    execution: t.field({
      type: ExecutionRef,
      nullable: true,
      resolve: (d, _args, { loaders }) => loaders.execution.load(d.executionId),
    }),
    at: t.expose('at', { type: 'DateTime' }),
    outcome: t.field({ type: DecisionOutcome, resolve: (d) => d.decision.outcome }),
    winner: t.string({
      nullable: true,
      description: 'Name of the worker that got it.',
      resolve: (d) => d.decision.winner,
    }),
    reason: t.string({
      nullable: true,
      description: 'Why nobody did (PARKED, FAILED); never names a routing-input key or value.',
      resolve: (d) => d.decision.reason,
    }),
    method: t.field({
      type: DecisionMethod,
      description:
        'ROUTING: the policy decided. LEAST_LOADED: no policy, or it was malformed (see degraded). HINT: no policy and the preferred worker was eligible.',
      resolve: (d) => d.decision.method,
    }),
    degraded: t.string({ nullable: true, resolve: (d) => d.decision.degraded }),
    terms: t.field({
      type: [Term],
      description:
        'Terms in order: the expression text and its weight. A term that reads routing input is withheld: no cells, no active, no note.',
      resolve: (d) => [...d.decision.terms],
    }),
    candidates: t.field({
      type: [Candidate],
      description:
        'Best first, then the rejected, nearest misses first; at most 50 kept of a larger fleet, the winner always among them.',
      resolve: (d) => [...d.decision.candidates],
    }),
    eligibleCount: t.int({ resolve: (d) => d.decision.eligibleCount }),
    rejectedCount: t.int({ resolve: (d) => d.decision.rejectedCount }),
    rejections: t.field({ type: [RejectionCountType], resolve: (d) => [...d.decision.rejections] }),
    waitMs: t.exposeFloat('waitMs', { description: 'Time from the execution being dispatchable to this decision.' }),
    durationUs: t.exposeFloat('durationUs', { description: 'Time the decision itself took.' }),
    version: t.field({
      type: WorkflowVersionRef,
      nullable: true,
      description: 'The version whose policy, affinity and requests were used.',
      resolve: (d, _args, { loaders }) => loaders.version.load(d.versionId),
    }),
    attempt: t.exposeInt('attempt'),
    generation: t.exposeInt('generation'),
    blinded: t.boolean({
      description:
        "Scores, totals, ranks, margin and per-worker constraint verdicts are withheld, because the version's policy or affinity reads routing input.",
      resolve: (d) => d.decision.blinded,
    }),
    margin: t.float({ nullable: true, resolve: (d) => d.decision.margin }),
    tieBreak: t.field({ type: TieBreak, resolve: (d) => d.decision.tieBreak }),
    explanation: t.stringList({
      description: 'The explanation in short sentences, best first; the first one is Execution.why.',
      resolve: (d) => d.explanation,
    }),
  }),
});

DispatchPreviewRef.implement({
  description: 'What would happen: nothing is stored or dispatched.',
  fields: (t) => ({
    outcome: t.field({ type: DecisionOutcome, resolve: (p) => p.decision.outcome }),
    winner: t.string({ nullable: true, resolve: (p) => p.decision.winner }),
    reason: t.string({ nullable: true, resolve: (p) => p.decision.reason }),
    method: t.field({ type: DecisionMethod, resolve: (p) => p.decision.method }),
    degraded: t.string({ nullable: true, resolve: (p) => p.decision.degraded }),
    terms: t.field({ type: [Term], resolve: (p) => [...p.decision.terms] }),
    candidates: t.field({ type: [Candidate], resolve: (p) => [...p.decision.candidates] }),
    rejections: t.field({ type: [RejectionCountType], resolve: (p) => [...p.decision.rejections] }),
    blinded: t.boolean({ resolve: (p) => p.decision.blinded }),
    margin: t.float({ nullable: true, resolve: (p) => p.decision.margin }),
    tieBreak: t.field({ type: TieBreak, resolve: (p) => p.decision.tieBreak }),
    explanation: t.stringList({ resolve: (p) => explain(p.decision) }),
    eligibleCount: t.int({ resolve: (p) => p.decision.eligibleCount }),
    rejectedCount: t.int({ resolve: (p) => p.decision.rejectedCount }),
    warnings: t.stringList({
      description: 'E.g. a metric or label that no worker sends, a constraint that no worker can meet.',
      resolve: (p) => [...p.warnings],
    }),
  }),
});

export const DecisionFilterInput = builder.inputType('DecisionFilter', {
  description: 'worker: winner or kept candidate.',
  fields: (t) => ({
    outcomes: t.field({ type: [DecisionOutcome] }),
    workflow: t.string(),
    worker: t.string(),
    execution: t.id(),
    after: t.field({ type: 'DateTime' }),
    before: t.field({ type: 'DateTime' }),
    deployment: t.string(),
    winner: t.string(),
    candidate: t.string(),
    blinded: t.boolean(),
    degraded: t.boolean(),
  }),
});

builder.queryFields((t) => ({
  decision: t.field({
    authScopes: { reads: ['execution:*:read', 'workflow:{namespace}:{name}:read'], blind: true },
    type: DecisionRef,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, { loaders }) => {
      const raw = decodeUuid('de', id);
      return raw === null ? null : loaders.decision.load(raw);
    },
  }),
  decisions: t.field({
    authScopes: { reads: ['execution:*:read', 'workflow:{namespace}:{name}:read'], blind: true },
    type: DecisionConnection,
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      filter: t.arg({ type: DecisionFilterInput }),
    },
    resolve: async (_root, { filter, ...page }, context) =>
      decisionConnection(context, page, await resolveDecisionFilter(filter, context)),
  }),
}));
