/** An execution as the server answers it, COMPLETED on w-1; `fields` say what is different. */
export function executionOf(fields: object = {}) {
  return {
    id: 'ex_1',
    workflowRef: 'demo/chat',
    state: 'COMPLETED',
    why: 'Ran on w-1.',
    workerName: 'w-1',
    variantLabel: 'stable',
    deployment: { slug: 'assistant' },
    sessionKey: null,
    targetRoles: [],
    parked: false,
    parkedReason: null,
    parkedSince: null,
    priority: 0,
    attempt: 1,
    maxAttempts: 3,
    generation: 1,
    input: null,
    output: { answer: 42 },
    error: null,
    submittedBy: 'admin',
    createdAt: '2026-01-01T00:00:00.000Z',
    scheduledAt: null,
    startedAt: null,
    finishedAt: null,
    ...fields,
  };
}

/** The same as `execution show` asks for it. */
export function executionDetailOf(fields: object = {}) {
  return executionOf({
    version: { id: 'wv_1', number: 1 },
    waitingFor: null,
    parent: null,
    retryOf: null,
    children: { totalCount: 0, nodes: [] },
    attempts: [],
    events: { nodes: [] },
    ...fields,
  });
}
