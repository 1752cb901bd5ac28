import { describe, expect, it } from 'vitest';
import { type RoleMember, roleHealth } from './role-health.ts';

const member = (role: string, over: Partial<RoleMember> = {}): RoleMember => ({
  role,
  status: 'HEALTHY',
  availability: 'ACTIVE',
  lastSeenAt: 5,
  ...over,
});

describe('roleHealth', () => {
  it('wants one worker that is healthy and may take work', () => {
    const roles = roleHealth([
      member('worker', { status: 'STALE', lastSeenAt: 1 }),
      member('worker', { lastSeenAt: 9 }),
      member('gpu', { availability: 'CORDONED' }),
      member('gpu', { status: 'UNHEALTHY', lastSeenAt: null }),
    ]);
    expect(roles.get('worker')).toMatchObject({
      healthy: true,
      workers: 2,
      healthyWorkers: 1,
      staleWorkers: 1,
      lastSeenAt: 9,
    });
    expect(roles.get('gpu')).toMatchObject({
      healthy: false,
      healthyWorkers: 0,
      unavailableWorkers: 1,
      unhealthyWorkers: 1,
    });
  });

  it('counts every worker once', () => {
    const all = (['HEALTHY', 'UNHEALTHY', 'STALE', 'OFFLINE'] as const).flatMap((status) =>
      (['ACTIVE', 'CORDONED', 'DRAINING'] as const).map((availability) => member('r', { status, availability })),
    );
    const role = roleHealth(all).get('r');
    expect(role).toMatchObject({
      workers: 12,
      healthyWorkers: 1,
      unavailableWorkers: 2,
      unhealthyWorkers: 3,
      staleWorkers: 3,
      offlineWorkers: 3,
    });
  });

  it('lists a role that only a variant names, and orders by code point', () => {
    const roles = roleHealth([member('é'), member('a'), member('Z')], ['nobody', 'a']);
    expect([...roles.keys()]).toEqual(['Z', 'a', 'nobody', 'é']);
    expect(roles.get('nobody')).toMatchObject({ healthy: false, workers: 0, lastSeenAt: null });
  });
});
