import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DispatchFigures } from '../../dispatch/figures.ts';
import { Releaser } from '../../dispatch/release.ts';
import { eventually } from '../../dispatch/testing/harness.ts';
import { createLog } from '../../log.ts';
import { codes, completed, type Held } from '../../testing/durable-items.ts';
import { healthy, operator, startTestControlPlane, type TestControlPlane } from '../../testing/test-control-plane.ts';
import { onDuty, type WorkerOnDuty } from '../../testing/worker-on-duty.ts';
import type { HeldItem } from './report-store.ts';
import { UNLISTED_MESSAGE, UnlistedClaims } from './unlisted-claims.ts';

let plane: TestControlPlane;
let worker: WorkerOnDuty;
let versions: Record<'plain' | 'once', number>;
let net: UnlistedClaims;
/** How far the clock of the net is ahead of the database's, ms. */
let ahead: number;
let released: string[];

beforeAll(async () => {
  plane = await startTestControlPlane({ heartbeatSeconds: 1, claimSeconds: 600 });
  versions = {
    plain: await plane.registerWorkflow('plain'),
    once: await plane.registerWorkflow('once', { maxAttempts: 1 }),
  };
  worker = await onDuty(plane, 'w', { capacity: null });
});
afterAll(async () => {
  await worker.leave();
  await plane.stop();
});
beforeEach(() => {
  ahead = 0;
  released = [];
  const releaser = new Releaser({
    executor: plane.executor,
    bus: plane.bus,
    figures: new DispatchFigures(() => performance.now(), Math.random),
    settings: plane.config,
  });
  net = new UnlistedClaims({
    executor: plane.executor,
    fleet: plane.fleet,
    now: () => plane.database.now() + ahead,
    log: createLog('silent', { write: () => undefined }),
    releaseWorker: async (request) => {
      const rows = await releaser.releaseWorker(request);
      released.push(...rows.map((row) => row.id));
      return rows;
    },
  });
});

const me = () => {
  const known = plane.fleet.get('w');
  if (known === undefined) throw new Error('w is not on duty');
  return known;
};

/** Heartbeats of a worker that lists these, one every so many seconds by the net's clock. */
async function beats(count: number, claims: readonly HeldItem[] | null = [], everySeconds = 10): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    ahead += everySeconds * 1_000;
    await net.heard(me(), claims, 10);
  }
}

async function running(version = versions.plain): Promise<Held> {
  const id = await plane.submit(version);
  return { id, generation: (await worker.claimed(id)).generation };
}

async function row(id: string): Promise<Record<string, unknown>> {
  return (await plane.database.query('SELECT * FROM execution WHERE id = $1', [id])).rows[0] ?? {};
}

async function end(...held: Held[]): Promise<void> {
  await worker.report({ ends: held.map((one) => completed(one)) });
}

describe('a claim that a living worker lists no more', () => {
  it('goes back like lost work at the third heartbeat after the first; what the worker writes later is refused', async () => {
    const held = await running();
    await beats(3);
    expect(released).toEqual([]);
    await beats(1);
    expect(released).toEqual([held.id]);
    expect(await row(held.id)).toMatchObject({
      state: 'PENDING',
      attempt: 1,
      generation: held.generation + 1,
      worker_id: null,
      not_before: expect.any(Date),
    });
    const { rows } = await plane.database.query('SELECT number, outcome, error FROM attempt WHERE execution_id = $1', [
      held.id,
    ]);
    expect(rows).toEqual([
      {
        number: 1,
        outcome: 'WORKER_LOST',
        error: { type: 'WorkerLostError', message: UNLISTED_MESSAGE, retryable: true },
      },
    ]);
    expect(codes((await worker.report({ ends: [completed(held)] })).ends)).toEqual(['CONFLICT']);
    const claim = await worker.claimed(held.id);
    expect(claim.attempt).toBe(2);
    await end({ id: held.id, generation: claim.generation });
    expect((await row(held.id)).state).toBe('COMPLETED');
  });

  it('fails where no attempt is left, and says why', async () => {
    const held = await running(versions.once);
    await beats(4);
    expect(await row(held.id)).toMatchObject({
      state: 'FAILED',
      error: { type: 'WorkerLostError', message: `${UNLISTED_MESSAGE} in attempt 1, the last one`, retryable: true },
    });
    expect(codes((await worker.report({ ends: [completed(held)] })).ends)).toEqual(['CONFLICT']);
  });

  it('is CANCELLED where it was being cancelled', async () => {
    const held = await running();
    await plane.executions.cancel(held.id, operator);
    await beats(4);
    expect(await row(held.id)).toMatchObject({ state: 'CANCELLED', live: false });
    expect(codes((await worker.report({ ends: [completed(held)] })).ends)).toEqual(['CONFLICT']);
  });

  it('goes back also where it is CLAIMED and not started', async () => {
    const id = await plane.submit(versions.plain);
    const { generation } = await worker.assigned(id);
    await worker.report({ claims: [{ id, generation, started: false, again: false }] });
    await beats(4);
    expect(await row(id)).toMatchObject({ state: 'PENDING', attempt: 1 });
    await plane.executions.cancel(id, operator);
  });

  it('goes back alone: what is listed stays', async () => {
    const [kept, forgotten] = [await running(), await running()];
    await beats(5, [kept]);
    expect(released).toEqual([forgotten.id]);
    expect(await row(kept.id)).toMatchObject({ state: 'RUNNING', generation: kept.generation });
    await end(kept);
    await plane.executions.cancel(forgotten.id, operator);
  });
});

describe('good work stays', () => {
  it('where a heartbeat lists it in between', async () => {
    const held = await running();
    await beats(3);
    await beats(1, [held]);
    await beats(3);
    await end(held);
    expect([released, (await row(held.id)).state]).toEqual([[], 'COMPLETED']);
  });

  it('where heartbeats were held up and come all at once', async () => {
    const held = await running();
    await beats(1);
    await beats(20, [], 0.1);
    await beats(2);
    await end(held);
    expect(released).toEqual([]);
  });

  it('where heartbeats say nothing of claims', async () => {
    const held = await running();
    await beats(3);
    await beats(1, null);
    await beats(3);
    expect(released).toEqual([]);
    await beats(10, null);
    await end(held);
    expect([released, net.size]).toEqual([[], 0]);
  });

  it('where it is only scheduled: that has a time of its own', async () => {
    const id = await plane.submit(versions.plain);
    await worker.assigned(id);
    await beats(8);
    expect([released, (await row(id)).state]).toEqual([[], 'SCHEDULED']);
    await plane.executions.cancel(id, operator);
  });

  it('where it was claimed after the heartbeats without it began, however many there were before', async () => {
    const id = await plane.submit(versions.plain);
    const { generation } = await worker.assigned(id);
    await beats(8);
    // By the database's clock the claim comes after all of them.
    ahead = 0;
    const claimedAt = plane.database.now() + 80_000;
    await worker.report({ claims: [{ id, generation, started: true, again: false }] });
    await plane.database.query('UPDATE execution SET claimed_at = to_timestamp($2) WHERE id = $1', [
      id,
      claimedAt / 1_000,
    ]);
    ahead = 80_000;
    await beats(3);
    expect(released).toEqual([]);
    await beats(1);
    expect(released).toEqual([id]);
    await plane.executions.cancel(id, operator);
  });

  it('while a report about it is under way, and a claim that is answered again is counted anew', async () => {
    const held = await running();
    await beats(3);
    const answered = net.reporting(me(), [held], []);
    await beats(5);
    answered();
    await beats(3);
    expect(released).toEqual([]);
    const ended = net.reporting(me(), [], [held]);
    await beats(1);
    expect(released).toEqual([]);
    await end(held);
    ended();
    await beats(5);
    expect(released).toEqual([]);
  });

  it('where the claim is answered again between two heartbeats', async () => {
    const held = await running();
    await beats(3);
    net.reporting(me(), [held], [])();
    await beats(3);
    expect(released).toEqual([]);
    await end(held);
  });

  it('where a heartbeat that lists it arrives while the tables are read', async () => {
    const held = await running();
    await beats(3);
    ahead += 10_000;
    await Promise.all([net.heard(me(), [], 10), net.heard(me(), [held], 10)]);
    expect(released).toEqual([]);
    await end(held);
  });

  it('where its end is written at the same time: one of the two wins, and the other is told', async () => {
    const all: Held[] = [];
    while (all.length < 10) all.push(await running());
    await beats(3);
    ahead += 10_000;
    const [, { ends }] = await Promise.all([
      net.heard(me(), [], 10),
      worker.report({ ends: all.map((one) => completed(one)) }),
    ]);
    for (const [index, { id }] of all.entries()) {
      const lost = released.includes(id);
      expect([codes(ends)[index], (await row(id)).state]).toEqual(lost ? ['CONFLICT', 'PENDING'] : [null, 'COMPLETED']);
      if (lost) await plane.executions.cancel(id, operator);
    }
  });
});

describe('what is counted', () => {
  it('is lost with the process: a newer one of the same name starts anew', async () => {
    const first = await onDuty(plane, 'renewed', { instanceId: 'r-1', role: 'renewed', capacity: null });
    const item = {
      versionId: versions.plain,
      workflowRef: 'test/plain',
      targetRoles: ['renewed'],
      input: null,
      priority: 0,
    };
    const [outcome] = await plane.executions.submit([item], operator);
    const id = outcome !== undefined && 'id' in outcome ? outcome.id : '';
    await first.claimed(id);
    const renewed = () => plane.fleet.get('renewed') ?? me();
    for (let i = 0; i < 3; i += 1) {
      ahead += 10_000;
      await net.heard(renewed(), [], 10);
    }
    const second = await onDuty(plane, 'renewed', { instanceId: 'r-2', role: 'renewed', capacity: null });
    await second.claimed(id);
    for (let i = 0; i < 3; i += 1) {
      ahead += 10_000;
      await net.heard(renewed(), [], 10);
    }
    expect(released).toEqual([]);
    ahead += 10_000;
    await net.heard(renewed(), [], 10);
    expect(released).toEqual([id]);
    await plane.executions.cancel(id, operator);
    await second.leave();
  });

  it('is forgotten where nothing is left out any more, or the worker is heard no more', async () => {
    const held = await running();
    await beats(1);
    expect(net.size).toBe(1);
    await beats(1, [held]);
    expect(net.size).toBe(0);
    await beats(1);
    const other = await onDuty(plane, 'other');
    ahead += 120_000;
    await net.heard(plane.fleet.get('other') ?? me(), [], 10);
    expect(net.size).toBe(0);
    await end(held);
    await other.leave();
  });
});

describe('over the protocol', () => {
  it('a worker that forgets a claim loses it within some heartbeats, and one that lists its claims keeps them', async () => {
    const [kept, forgotten] = [await running(), await running()];
    const { protocol } = plane.workforce;
    await eventually(async () => {
      const { lost } = await protocol.heartbeat(operator, 'w', 'w-1', { ...healthy, claims: [kept] });
      expect(lost).toEqual([]);
      await delay(500);
      return (await row(forgotten.id)).generation === forgotten.generation + 1;
    }, 30_000);
    expect(await row(kept.id)).toMatchObject({ state: 'RUNNING', generation: kept.generation });
    expect(codes((await worker.report({ ends: [completed(forgotten), completed(kept)] })).ends)).toEqual([
      'CONFLICT',
      null,
    ]);
    const { lost } = await protocol.heartbeat(operator, 'w', 'w-1', { ...healthy, claims: [forgotten] });
    expect(lost).toEqual([forgotten.id]);
    await plane.executions.cancel(forgotten.id, operator);
  });
});
