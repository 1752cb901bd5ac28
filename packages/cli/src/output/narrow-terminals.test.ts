import stringWidth from 'string-width';
import { afterEach, describe, expect, test } from 'vitest';
import { answeringServer } from '../testing/answering-server.ts';
import { executionDetailOf, executionOf } from '../testing/execution.ts';
import { runCommand } from '../testing/run-command.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const at = '2026-01-01T00:00:00.000Z';
const lastPage = { hasNextPage: false, endCursor: null };
const id = 'ex_01a22b9d87cf714fa6dc3dcf9467ede0';
const policy =
  'score(prefer(label("region") == input("customer.region"), weight=10), least(metric("queue_depth")), least(load()))';
const metrics = [
  'queue_depth',
  'flux.memory_available_bytes',
  'flux.loop_lag_p95_seconds',
  'flux.executions_per_minute',
].map((key) => ({ key, value: 12_345_678, builtin: key.startsWith('flux.'), stale: true, at }));
const labels = [
  { key: 'region', value: 'eu-central-1' },
  { key: '場所', value: '東京リージョン' },
  { key: 'note', value: 'ein recht langer Text, der nicht in eine Zeile passt 🚀🚀🚀' },
];
const worker = {
  id: 'wk_1',
  name: 'gpu-worker-eu-central-1',
  role: 'gpu-worker',
  hostname: 'ip-10-0-0-1.eu-central-1.compute.internal',
  version: '1.2.3',
  status: 'UNHEALTHY',
  statusReasons: ['the check "disk" fails: no space left on device', 'モデルが読み込めません'],
  availability: 'CORDONED',
  eligible: false,
  connected: true,
  registered: true,
  load: 1,
  capacity: 16,
  lastSeenAt: at,
  labels,
  metrics,
};
const workerDetail = {
  ...worker,
  instanceId: '5e0c8d3e-7a43-4f2c-9f52-1d3f6f9f3b11',
  utilization: 0.1,
  startedAt: at,
  registeredAt: at,
  runners: ['inprocess', 'subprocess'],
  workflows: ['vision/classify-with-a-rather-long-name', 'default/要約'],
  metadata: [{ key: 'pool', value: 'x'.repeat(70), updatedAt: at, updatedBy: 'admin' }],
  checks: [{ name: 'disk', healthy: false, message: 'no space left on device, and nobody has cleaned up for weeks' }],
  resources: {
    cpuTotal: 64,
    cpuAvailable: 1,
    memoryTotal: 1e12,
    memoryAvailable: 1,
    diskTotal: 1e13,
    diskFree: 1,
    gpus: [],
  },
  packages: [{ name: 'torch', version: '2.6.0' }],
};
const execution = {
  id,
  workflowRef: 'vision/classify-with-a-rather-long-name',
  why: '3 of 14 workers have region=eu-central-1, all of them at capacity; gpu-worker-eu-central-1 frees a slot in about 40 s.',
  output: { text: 'ねこ '.repeat(40), list: [1, 2, 3] },
  state: 'FAILED',
  error: { type: 'TypeError', message: 'cannot read the picture: '.repeat(5), stack: null, retryable: false },
};
const version = {
  id: 'wv_12',
  number: 12,
  routingText: policy,
  affinityText: 'require(label("datacenter") == input("dc"), optional(label("cohort") == routing_input("cohort")))',
  runner: 'subprocess',
  maxAttempts: 3,
  timeoutSeconds: 60,
  createdAt: at,
  createdBy: 'somebody@example.org',
};
const variants = ['stable', 'canary', '候補'].map((label) => ({
  label,
  flowId: 'vision/classify-with-a-rather-long-name',
  versionId: null,
  weight: 1_000,
  targetRoles: ['gpu-worker', 'gpu-worker-preview'],
  dead: label !== 'stable',
  share: 0.33,
  effectiveShare: 1,
  observedShare: 0.9,
  observedCount: 900,
  roles: [{ role: 'gpu-worker', healthy: false, healthyWorkers: 0, workers: 3 }],
}));
const candidate = {
  worker: worker.name,
  role: 'gpu-worker',
  rank: 1,
  total: 10.5,
  load: 1,
  capacity: 4,
  rejected: null,
  rejectedBecause: null,
  cells: ['eu-central-1', 12_345, 0].map((value) => ({
    state: 'SCORED',
    value,
    valueAgeMs: 3_000,
    normalised: 1,
    weighted: 10,
  })),
  rejections: [],
};
const preview = {
  outcome: 'ASSIGNED',
  winner: worker.name,
  reason: null,
  method: 'ROUTING',
  degraded: null,
  blinded: true,
  margin: 1,
  tieBreak: 'NONE',
  explanation: [execution.why],
  eligibleCount: 1,
  rejectedCount: 60,
  warnings: ['No worker sends the metric queue_depth_of_the_other_queue, which the policy reads.'],
  terms: ['prefer(label("region") == input("customer.region"))', 'least(metric("queue_depth"))', 'least(load())'].map(
    (text) => ({
      text,
      weight: 10,
      active: false,
      withheld: false,
      note: 'its condition does not hold for this input',
    }),
  ),
  rejections: [{ reason: 'AFFINITY_UNMET', count: 59 }],
  candidates: [
    candidate,
    {
      ...candidate,
      worker: '工人-七',
      rank: null,
      rejected: 'AFFINITY_UNMET',
      cells: [],
      rejections: [
        {
          reason: 'AFFINITY_UNMET',
          message: 'label region is us-east-1, wanted eu-central-1',
          wanted: null,
          had: null,
        },
      ],
    },
  ],
};

const answers = {
  WorkerList: { data: { workers: { pageInfo: lastPage, nodes: [worker, { ...worker, name: 'w-2' }] } } },
  WorkerShow: { data: { worker: workerDetail } },
  WorkerMetadata: { data: { worker: workerDetail } },
  WorkflowList: {
    data: {
      workflows: {
        pageInfo: lastPage,
        nodes: [
          {
            ref: execution.workflowRef,
            description: 'Says what is in a picture, in a sentence or two.',
            latest: version,
          },
        ],
      },
    },
  },
  WorkflowShow: {
    data: {
      workflow: {
        ref: execution.workflowRef,
        description: 'Says what is in a picture.',
        latest: {
          ...version,
          requests: { cpu: 2, memory: null, memoryText: '8Gi', disk: null, gpu: 1, packages: ['torch>=2.6'] },
        },
        versions: { nodes: [version] },
        variants: variants.map(({ label, weight }) => ({ label, weight, deployment: { slug: 'assistant' } })),
      },
    },
  },
  WorkflowVersions: { data: { workflow: { versions: { pageInfo: lastPage, nodes: [version] } } } },
  DeploymentList: {
    data: {
      deployments: {
        pageInfo: lastPage,
        nodes: [{ slug: 'assistant', health: 'DEGRADED', revision: 3, updatedAt: at, variants }],
      },
    },
  },
  DeploymentShow: {
    data: {
      deployment: {
        slug: 'assistant',
        health: 'UNAVAILABLE',
        unavailable: true,
        revision: 3,
        updatedBy: 'admin',
        updatedAt: at,
        variants,
      },
    },
  },
  DeploymentHistory: {
    data: {
      deployment: {
        history: {
          pageInfo: lastPage,
          nodes: [{ revision: 3, variants, comment: 'a comment of some length, as people write', author: 'admin', at }],
        },
      },
    },
  },
  ExecutionList: { data: { executions: { pageInfo: lastPage, nodes: [executionOf(execution)] } } },
  ExecutionShow: {
    data: {
      execution: executionDetailOf({
        ...execution,
        children: { totalCount: 1, nodes: [{ id, workflowRef: execution.workflowRef, state: 'RUNNING' }] },
        attempts: [
          { number: 1, generation: 1, worker: worker.name, outcome: 'FAILED', scheduledAt: at, error: execution.error },
        ],
        events: { nodes: [{ sequence: 1, type: 'FAILED', at, worker: worker.name, data: execution.error }] },
      }),
    },
  },
  ExecutionEventList: {
    data: {
      execution: {
        events: {
          pageInfo: lastPage,
          nodes: [{ sequence: 1, type: 'PROGRESS', at, worker: worker.name, data: execution.output }],
        },
      },
    },
  },
  ExecutionWhy: {
    data: {
      execution: {
        ...executionOf(execution),
        latestDecision: { id: 'de_1', at, waitMs: 1, durationUs: 2, ...preview },
        whyWaiting: null,
      },
    },
  },
  PolicyPreview: { data: { previewDispatch: preview } },
};

/** How often each letter stands in a text, blanks left out. */
function lettersOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const letter of text.replaceAll(/\s+/g, '')) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  return counts;
}

describe.each([60, 80, 120])('%i columns', (columns) => {
  test.each([
    'worker list',
    'worker list --no-metrics',
    'worker show x',
    'worker metadata show x',
    'workflow list',
    'workflow show x',
    'workflow versions x',
    'deployment list',
    'deployment show x',
    'deployment history x',
    'execution list',
    'execution show x',
    'execution events x',
    'why x',
    'policy preview --workflow x',
  ])('%s', async (command) => {
    const server = await answeringServer(answers);
    cleanups.push(() => server.close());
    const args = command.split(' ');
    const { code, out } = await runCommand(args, { url: server.url, columns });
    expect(code).toBe(0);
    const tooWide = out.split('\n').filter((line) => stringWidth(line) > columns);
    expect(tooWide).toEqual([]);
    // Nothing is lost by it, whatever the line breaks.
    const wide = lettersOf((await runCommand(args, { url: server.url, columns: 5_000 })).out);
    const narrow = lettersOf(out);
    for (const [letter, count] of wide)
      expect([letter, narrow.get(letter) ?? 0]).toEqual([letter, expect.toSatisfy((n: number) => n >= count)]);
  });

  test.each(['--help', 'worker --help', 'deployment create --help'])('%s', async (command) => {
    const { out } = await runCommand(command.split(' '), { columns });
    // Examples are typed as they stand.
    const lines = out.split('Examples:')[0]?.split('\n') ?? [];
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
  });
});
