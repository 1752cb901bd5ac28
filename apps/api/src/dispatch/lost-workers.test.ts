import { describe, expect, it } from 'vitest';
import type { FleetWorker } from '../fleet/worker-record.ts';
import { findLostWorkers } from './lost-workers.ts';

const NOW = 10_000_000;

function worker(
  name: string,
  more: Partial<FleetWorker['facts']> & { disconnectedAgo?: number; leftAgo?: number; silentMs?: number } = {},
): FleetWorker {
  const { disconnectedAgo, leftAgo, silentMs = 0, ...facts } = more;
  const disconnectedAt = disconnectedAgo === undefined ? null : NOW - disconnectedAgo;
  const leftAt = leftAgo === undefined ? null : NOW - leftAgo;
  return {
    facts: {
      name,
      instanceId: `${name}-1`,
      role: 'worker',
      status: 'HEALTHY',
      statusReasons: [],
      connected: disconnectedAt === null && leftAt === null,
      availability: 'ACTIVE',
      labels: new Map(),
      metadata: new Map(),
      metrics: new Map(),
      metricsAgeMs: null,
      resources: null,
      packages: [],
      runners: [],
      workflows: [],
      capacity: null,
      load: 3,
      ...facts,
    },
    id: 1,
    version: '1',
    hostname: 'h',
    startedAt: new Date(0),
    registeredAt: new Date(0),
    lastSeenAt: new Date(NOW - silentMs),
    registered: true,
    eligible: true,
    checks: [],
    metrics: [],
    metadata: new Map(),
    replica: 'r',
    disconnectedAt,
    leftAt,
    utilization: null,
  };
}

const causes = (workers: FleetWorker[], quietUntil = 0): string[] =>
  findLostWorkers(workers, NOW, quietUntil).lost.map(
    (one) => `${one.worker.facts.name} ${one.cause}${one.paced ? ' paced' : ''}`,
  );

describe('findLostWorkers', () => {
  it('leaves workers alone that are there, stale, or only just disconnected', () => {
    expect(
      causes([
        worker('a'),
        worker('b', { status: 'STALE', silentMs: 40_000 }),
        worker('c', { disconnectedAgo: 4_999 }),
        worker('d', { status: 'UNHEALTHY' }),
      ]),
    ).toEqual([]);
  });

  it('releases after goodbye at once, after silence for the offline time, after five seconds without connection', () => {
    expect(
      causes([
        worker('a', { status: 'OFFLINE', leftAgo: 0 }),
        worker('b', { status: 'OFFLINE', silentMs: 60_000 }),
        worker('c', { disconnectedAgo: 5_000 }),
      ]),
    ).toEqual(['a LEFT', 'b SILENT', 'c DISCONNECTED']);
  });

  it('lets only silence count after a start or a change of leader', () => {
    const gone = [
      worker('a', { disconnectedAgo: 20_000 }),
      worker('b', { status: 'OFFLINE', silentMs: 60_000, disconnectedAgo: 60_000 }),
    ];
    expect(causes(gone, NOW + 1)).toEqual(['b SILENT']);
    expect(causes(gone, NOW)).toEqual(['a DISCONNECTED', 'b SILENT']);
  });

  it('freezes the claims of a role of which much went at once, says so, and then goes slowly (A18)', () => {
    const six = Array.from({ length: 6 }, (_, i) => worker(`w${i}`, { disconnectedAgo: 8_000 + i * 900 }));
    const other = worker('g', { role: 'gpu', disconnectedAgo: 8_000 });
    expect(findLostWorkers([...six, other], NOW, 0)).toMatchObject({
      massLoss: ['worker'],
      lost: [{ worker: { facts: { name: 'g' } }, paced: false }],
    });
    const silent = six.map((_, i) => worker(`w${i}`, { status: 'OFFLINE', silentMs: 61_000, disconnectedAgo: 61_000 }));
    expect(causes([...silent, worker('bye', { status: 'OFFLINE', leftAgo: 10 })])).toEqual([
      ...silent.map((one) => `${one.facts.name} SILENT paced`),
      'bye LEFT',
    ]);
  });

  it('does not take a few for many, nor many over a long time', () => {
    const five = Array.from({ length: 5 }, (_, i) => worker(`w${i}`, { disconnectedAgo: 8_000 }));
    expect(causes(five)).toHaveLength(5);
    const slowly = Array.from({ length: 12 }, (_, i) => worker(`w${i}`, { disconnectedAgo: 8_000 + i * 2_000 }));
    expect(causes(slowly)).toHaveLength(12);
    const ofMany = [
      ...Array.from({ length: 90 }, (_, i) => worker(`ok${i}`)),
      ...Array.from({ length: 9 }, (_, i) => worker(`w${i}`, { disconnectedAgo: 8_000 })),
    ];
    expect(causes(ofMany)).toHaveLength(9);
  });

  it('forgets old losses of workers that hold nothing', () => {
    const old = Array.from({ length: 20 }, (_, i) =>
      worker(`old${i}`, { status: 'OFFLINE', silentMs: 86_400_000, disconnectedAgo: 86_400_000, load: 0 }),
    );
    expect(findLostWorkers([...old, worker('new', { disconnectedAgo: 8_000 })], NOW, 0)).toMatchObject({
      massLoss: [],
    });
  });
});
