/** What the OpenAPI document shows; a test holds every example against its schema. */

export const execution = {
  id: 'ex_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f',
  workflowRef: 'default/train',
  version: 3,
  deployment: null,
  variantLabel: null,
  targetRoles: [],
  sessionKey: null,
  state: 'COMPLETED',
  why: 'worker-7 won: label region is eu.',
  parked: false,
  parkedReason: null,
  parkedSince: null,
  parkDeadline: null,
  waitingFor: null,
  input: { region: 'eu' },
  output: { loss: 0.12 },
  error: null,
  workerName: 'worker-7',
  requiredWorker: null,
  preferredWorker: null,
  priority: 0,
  attempt: 1,
  maxAttempts: 3,
  generation: 1,
  revision: 3,
  parent: null,
  retryOf: null,
  submittedBy: 'admin',
  createdAt: '2026-01-02T03:04:05.678Z',
  scheduledAt: '2026-01-02T03:04:05.690Z',
  claimedAt: '2026-01-02T03:04:05.698Z',
  startedAt: '2026-01-02T03:04:05.698Z',
  finishedAt: '2026-01-02T03:04:09.120Z',
  updatedAt: '2026-01-02T03:04:09.120Z',
};

export const pendingExecution = {
  ...execution,
  state: 'PENDING',
  why: 'It waits to be dispatched.',
  output: null,
  workerName: null,
  attempt: 0,
  generation: 0,
  revision: 1,
  scheduledAt: null,
  claimedAt: null,
  startedAt: null,
  finishedAt: null,
  updatedAt: execution.createdAt,
};

export const event = {
  id: 'ev_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f-2',
  executionId: execution.id,
  sequence: 2,
  type: 'SCHEDULED',
  at: execution.scheduledAt,
  worker: 'worker-7',
  data: null,
};

export const stream = `retry: 1000\n\nid: 2\nevent: SCHEDULED\ndata: ${JSON.stringify(event)}\n\n`;

export const registryEntry = {
  instance_id: '0f8d2c9e',
  hostname: 'node-3',
  role: 'gpu-worker',
  version: '1.4.0',
  started_at: '2026-01-02T03:00:00.000Z',
  healthy: true,
  checks: [{ name: 'disk', healthy: true }],
  status: 'HEALTHY',
  last_seen: '2026-01-02T03:04:05.678Z',
  registered: true,
  name: 'worker-7',
  connected: true,
  draining: false,
  metrics: { 'flux.running_executions': 2 },
};

export const worker = {
  id: 'wk_7',
  name: 'worker-7',
  instanceId: '0f8d2c9e',
  role: 'gpu-worker',
  hostname: 'node-3',
  version: '1.4.0',
  status: 'HEALTHY',
  statusReasons: [],
  availability: 'ACTIVE',
  eligible: true,
  registered: true,
  connected: true,
  checks: [{ name: 'disk', healthy: true, message: null }],
  labels: { region: 'eu' },
  metadata: { 'approved.model-a': 'true' },
  metrics: { 'flux.running_executions': 2, 'flux.loop_lag_p95_seconds': 0.004 },
  metricsAt: '2026-01-02T03:04:05.678Z',
  metricsStale: false,
  resources: {
    cpuTotal: 8,
    cpuAvailable: 8,
    memoryTotal: 34_359_738_368,
    memoryAvailable: 30_000_000_000,
    diskTotal: 500_000_000_000,
    diskFree: 200_000_000_000,
    gpus: [],
  },
  runners: ['inprocess', 'subprocess'],
  workflows: ['default/train'],
  packages: [],
  capacity: 4,
  load: 2,
  utilization: 0.5,
  startedAt: '2026-01-02T03:00:00.000Z',
  registeredAt: '2026-01-02T03:00:00.120Z',
  lastSeenAt: '2026-01-02T03:04:05.678Z',
};

export const metadata = { metadata: { rack: 'b3', 'approved.model-a': 'true' } };

export const metadataEntry = {
  key: 'rack',
  value: 'b3',
  updatedAt: '2026-01-02T03:04:05.678Z',
  updatedBy: 'admin',
};

export const auditLine =
  '{"id":"au_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f","at":"2026-01-02T03:04:05.678Z","actor":"anna","action":"worker.cordon","target":"worker:worker-7","address":"192.0.2.7","requestId":"7d1c8f0e","before":{"availability":"ACTIVE"},"after":{"availability":"CORDONED"},"position":null,"hash":null}\n';

export const auditCsv =
  'id,at,actor,action,target,address,requestId,before,after,position,hash\r\nau_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f,2026-01-02T03:04:05.678Z,anna,worker.remove,worker:worker-7,192.0.2.7,7d1c8f0e,"{""role"":""gpu""}",,,\r\n';
