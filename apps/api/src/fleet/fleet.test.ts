import { livenessWindows } from '@muster/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { Fleet, type FleetChange } from './fleet.ts';
import type { Pulse, WorkerRow } from './worker-record.ts';

let now = 0;
let fleet: Fleet;
let changes: FleetChange[];

beforeEach(() => {
  now = 1_000_000;
  fleet = new Fleet({
    now: () => now,
    windows: livenessWindows({ heartbeatSeconds: 10, staleSeconds: 30, offlineSeconds: 60 }),
    onError: (error) => {
      throw error;
    },
  });
  changes = [];
  fleet.onChange((change) => changes.push(change));
});

function row(name: string, more: Partial<WorkerRow> = {}): WorkerRow {
  const at = new Date(now);
  return {
    id: name.charCodeAt(0),
    name,
    instance: `${name}-1`,
    role: 'worker',
    hostname: 'h',
    version: '1',
    labels: {},
    services: [],
    resources: null,
    packages: [],
    runners: ['inprocess'],
    workflows: [],
    capacity: 4,
    availability: 'ACTIVE',
    replica: 'api',
    startedAt: at,
    registeredAt: at,
    connectedAt: at,
    disconnectedAt: null,
    leftAt: null,
    metadata: new Map(),
    ...more,
  };
}

function pulse(name: string, more: Partial<Pulse> = {}): Pulse {
  return {
    instance: `${name}-1`,
    seenAt: now,
    healthy: true,
    draining: false,
    checks: [],
    metrics: null,
    metricsAt: null,
    ...more,
  };
}

describe('Fleet', () => {
  it('follows a worker from healthy to stale to offline by age alone, in list, role and columns alike', async () => {
    fleet.putRow(row('a'));
    fleet.putPulse('a', pulse('a'));
    expect(fleet.get('a')).toMatchObject({ eligible: true, facts: { status: 'HEALTHY' } });
    expect(fleet.isRoleHealthy('worker')).toBe(true);

    now += 31_000;
    fleet.tick();
    expect(fleet.get('a')).toMatchObject({ eligible: false, facts: { status: 'STALE' } });
    expect(fleet.isRoleHealthy('worker')).toBe(false);
    expect(fleet.prepared().facts(fleet.prepared().indexOf('a')).status).toBe('STALE');
    expect(fleet.roleHealth()).toMatchObject([{ role: 'worker', healthy: false, healthyWorkers: 0, staleWorkers: 1 }]);

    now += 30_000;
    fleet.tick();
    expect(fleet.get('a')?.facts.status).toBe('OFFLINE');
    await Promise.resolve();
    expect(changes.at(-1)?.names).toEqual(new Set(['a']));
  });

  it('keeps a worker whose heartbeat is late by half a period', () => {
    fleet.putRow(row('a'));
    fleet.putPulse('a', pulse('a'));
    now += 15_000;
    fleet.tick();
    expect(fleet.get('a')?.facts.status).toBe('HEALTHY');
  });

  it('drops heartbeats of another instance and older ones', () => {
    fleet.putRow(row('a'));
    fleet.putPulse('a', pulse('a', { healthy: true }));
    fleet.putPulse('a', pulse('a', { instance: 'other', healthy: false }));
    fleet.putPulse('a', pulse('a', { seenAt: now - 5_000, healthy: false }));
    expect(fleet.get('a')?.facts.status).toBe('HEALTHY');
  });

  it('says that a worker may take work again when it turns healthy, and not when it turns ill', async () => {
    fleet.putRow(row('a'));
    fleet.putPulse('a', pulse('a', { healthy: false }));
    await Promise.resolve();
    changes = [];
    fleet.putPulse('a', pulse('a', { healthy: true }));
    await Promise.resolve();
    fleet.putPulse('a', pulse('a', { healthy: false }));
    await Promise.resolve();
    expect(changes.map((change) => change.helpful)).toEqual([true, false]);
  });

  it('counts loads from the live map, also for a worker that it learns of later', () => {
    fleet.setLive('x', 97, 1);
    fleet.putRow(row('a'));
    expect(fleet.get('a')).toMatchObject({ facts: { load: 1 }, utilization: 0.25 });
    fleet.setLive('y', 97, 1);
    expect(fleet.prepared().loadOf(fleet.prepared().indexOf('a'))).toBe(2);
    fleet.clearLive('x', 1);
    fleet.clearLive('y', 1);
    expect(fleet.get('a')?.facts.load).toBe(0);
  });

  it('treats metrics older than 90 s as missing while the worker itself is heard', () => {
    fleet.putRow(row('a'));
    const metricsAt = now;
    fleet.putPulse('a', pulse('a', { metrics: new Map([['temp', 61]]), metricsAt }));
    expect(fleet.get('a')?.facts.metrics.get('temp')).toBe(61);
    now += 91_000;
    fleet.putPulse('a', pulse('a', { metrics: new Map([['temp', 61]]), metricsAt }));
    expect(fleet.get('a')?.facts.metrics.size).toBe(0);
    expect(fleet.get('a')?.metrics).toMatchObject([{ key: 'temp', value: 61, stale: true }]);
  });

  it('lists processes known only by their heartbeats, but counts them in no role', () => {
    fleet.putForeign(row('f', { id: -1, connectedAt: null }), pulse('f'));
    expect(fleet.get('f')).toMatchObject({ registered: false, eligible: false });
    expect(fleet.roleHealth()).toEqual([]);
    expect(fleet.prepared().size).toBe(0);
  });

  it('does not believe a worker that was heard before this server listened', () => {
    fleet.putRow(row('a', { registeredAt: new Date(now - 3_600_000) }));
    expect(fleet.get('a')?.facts.status).toBe('STALE');
    fleet.putPulse('a', pulse('a'));
    expect(fleet.get('a')?.facts.status).toBe('HEALTHY');
  });

  it('forgets a removed worker everywhere', async () => {
    fleet.putRow(row('a'));
    fleet.putRow(row('b'));
    fleet.remove('a');
    expect(fleet.get('a')).toBeUndefined();
    expect(fleet.byId(97)).toBeUndefined();
    expect(fleet.prepared().indexOf('a')).toBe(-1);
    expect(fleet.prepared().facts(fleet.prepared().indexOf('b')).name).toBe('b');
    expect(fleet.roleHealth()[0]?.workers).toBe(1);
    await Promise.resolve();
    expect(changes.at(-1)?.removed).toEqual(new Set(['a']));
  });
});
