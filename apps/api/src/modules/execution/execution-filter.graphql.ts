import { EXECUTION_STATES } from '@muster/core';
import { builder } from '../../graphql/builder.ts';

export const ExecutionStateEnum = builder.enumType('ExecutionState', { values: EXECUTION_STATES });

export const ExecutionFilterInput = builder.inputType('ExecutionFilter', {
  description: 'Fields are ANDed, a list is ORed. role and worker: the worker that has or had it.',
  fields: (t) => ({
    states: t.field({ type: [ExecutionStateEnum] }),
    workflow: t.string(),
    deployment: t.string(),
    variant: t.string(),
    worker: t.string(),
    role: t.string(),
    parked: t.boolean(),
    sessionKey: t.string(),
    createdAfter: t.field({ type: 'DateTime' }),
    createdBefore: t.field({ type: 'DateTime' }),
    search: t.string({ description: 'An id prefix of at least 8 hex digits, or an exact session key.' }),
    ids: t.idList(),
    namespace: t.string(),
    requiredWorker: t.string(),
    parent: t.id(),
    finishedAfter: t.field({ type: 'DateTime' }),
    finishedBefore: t.field({ type: 'DateTime' }),
    parkedBefore: t.field({ type: 'DateTime' }),
  }),
});
