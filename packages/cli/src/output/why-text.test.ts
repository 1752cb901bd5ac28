import type { CandidateFieldsFragment, ExecutionWhyQuery } from '@muster/client';
import { expect, test } from 'vitest';
import { styleFor } from './style.ts';
import { whyText } from './why-text.ts';

type Execution = NonNullable<ExecutionWhyQuery['execution']>;
const style = styleFor(false);
const now = Date.parse('2026-01-01T00:00:10Z');

const candidate: CandidateFieldsFragment = {
  worker: 'gpu-eu',
  role: 'gpu-worker',
  rank: 1,
  total: 10.5,
  load: 1,
  capacity: 4,
  rejected: null,
  rejectedBecause: null,
  cells: [
    { state: 'SCORED', value: 'eu', valueAgeMs: null, normalised: 1, weighted: 10 },
    { state: 'SCORED', value: 1, valueAgeMs: null, normalised: 0.5, weighted: 0.5 },
  ],
  rejections: [],
};
const rejected: CandidateFieldsFragment = {
  ...candidate,
  worker: 'w-9',
  role: 'worker',
  rank: null,
  total: null,
  rejected: 'ROLE_MISMATCH',
  rejectedBecause: 'role worker is not gpu-worker',
  cells: [],
};
const terms = [
  { text: 'prefer(label("region") == input("region"))', weight: 10, active: true, withheld: false, note: null },
  { text: 'least(load())', weight: 1, active: true, withheld: false, note: null },
];
const decision: NonNullable<Execution['latestDecision']> = {
  id: 'de_1',
  at: '2026-01-01T00:00:00Z',
  outcome: 'ASSIGNED',
  winner: 'gpu-eu',
  reason: null,
  method: 'ROUTING',
  degraded: null,
  blinded: false,
  margin: 3,
  tieBreak: 'NONE',
  explanation: ['gpu-eu scored 10.5, ahead of gpu-us by 3.', '1 worker was left out.'],
  eligibleCount: 2,
  rejectedCount: 1,
  waitMs: 1.25,
  durationUs: 80,
  terms,
  rejections: [{ reason: 'ROLE_MISMATCH', count: 1 }],
  candidates: [
    candidate,
    {
      ...candidate,
      worker: 'gpu-us',
      rank: 2,
      total: 7.5,
      capacity: null,
      cells: [
        { state: 'SCORED', value: 'us', valueAgeMs: null, normalised: 0, weighted: 0 },
        { state: 'MISSING', value: null, valueAgeMs: null, normalised: null, weighted: null },
      ],
    },
    rejected,
  ],
};
const execution: Execution = {
  id: 'ex_1',
  workflowRef: 'demo/chat',
  state: 'COMPLETED',
  why: 'gpu-eu scored 10.5, ahead of gpu-us by 3.',
  workerName: 'gpu-eu',
  parked: false,
  parkedReason: null,
  parkedSince: null,
  latestDecision: decision,
  whyWaiting: null,
};

test('sentences, then worker × term, then who was left out', () => {
  expect(whyText(execution, now, style)).toBe(
    `ex_1  demo/chat  COMPLETED on gpu-eu
gpu-eu scored 10.5, ahead of gpu-us by 3.

ASSIGNED decided 10 s ago · by its policy · 2 eligible, 1 left out · waited 1.25 ms, took 80 µs

• gpu-eu scored 10.5, ahead of gpu-us by 3.
• 1 worker was left out.

T1  prefer(label("region") == input("region"))  × 10
T2  least(load())  × 1

#  worker    role             T1        T2  total    load
1  gpu-eu ✓  gpu-worker  eu → 10   1 → 0.5   10.5  1 of 4
2  gpu-us    gpu-worker   us → 0  no value    7.5       1

left out  role    reason         because
w-9       worker  ROLE_MISMATCH  role worker is not gpu-worker`,
  );
});

test('a metric is told with its age when it was read', () => {
  const cells = [{ state: 'SCORED' as const, value: 0.25, valueAgeMs: 3_240, normalised: 1, weighted: 5 }];
  const read = { ...decision, terms: [terms[1]!], candidates: [{ ...candidate, cells }] };
  expect(whyText({ ...execution, latestDecision: read }, now, style)).toContain('0.25 (3.2 s old) → 5');
});

test('while it waits: what would happen now, every reason, and the warnings', () => {
  const waiting: Execution = {
    ...execution,
    state: 'PENDING',
    parked: true,
    workerName: null,
    why: 'No worker of role gpu-worker is healthy.',
    latestDecision: null,
    whyWaiting: {
      ...decision,
      outcome: 'PARKED',
      winner: null,
      explanation: ['Nobody can take it.'],
      eligibleCount: 0,
      rejectedCount: 60,
      rejections: [
        { reason: 'OFFLINE', count: 59 },
        { reason: 'ROLE_MISMATCH', count: 1 },
      ],
      warnings: ['No worker sends cache.warm.'],
      candidates: [
        {
          ...rejected,
          rejections: [
            { reason: 'CORDONED', message: 'cordoned by admin', wanted: null, had: null },
            { reason: 'ROLE_MISMATCH', message: 'role worker is not gpu-worker', wanted: null, had: null },
          ],
        },
      ],
    },
  };
  const text = whyText(waiting, now, style);
  expect(text).toContain('ex_1  demo/chat  PENDING PARKED\nNo worker of role gpu-worker is healthy.');
  expect(text).toContain('! No worker sends cache.warm.');
  expect(text).toMatch(/w-9 +worker +CORDONED +cordoned by admin\n +ROLE_MISMATCH +role worker is not gpu-worker/);
  expect(text).toContain('Left out in all: OFFLINE 59, ROLE_MISMATCH 1.');
});

test('a blinded decision shows no scores and says why', () => {
  const blinded: Execution = {
    ...execution,
    latestDecision: {
      ...decision,
      blinded: true,
      terms: [{ ...terms[0]!, active: null, withheld: true }],
      candidates: [
        {
          ...candidate,
          rank: null,
          total: null,
          cells: [{ state: 'WITHHELD', value: null, valueAgeMs: null, normalised: null, weighted: null }],
        },
      ],
    },
  };
  const text = whyText(blinded, now, style);
  expect(text).toMatch(/– +gpu-eu ✓ +gpu-worker +withheld +– +1 of 4/);
  expect(text).toContain('(withheld)');
  expect(text).toContain('Scores and ranks are withheld');
});

test('no decision yet', () => {
  expect(whyText({ ...execution, latestDecision: null }, now, style)).toContain(
    'No decision has been made about it yet.',
  );
});
