import { MusterError } from '@muster/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  healthy,
  operator,
  registration,
  startTestControlPlane,
  type TestControlPlane,
} from '../../testing/test-control-plane.ts';
import { emptyReport, onDuty as takeDuty } from '../../testing/worker-on-duty.ts';
import { LATE_WRITE_EVENT } from './report-store.ts';

let plane: TestControlPlane;
let version: number;

beforeAll(async () => {
  plane = await startTestControlPlane();
  version = await plane.registerWorkflow('echo');
});
afterAll(() => plane.stop());

const onDuty = (name: string, more: Parameters<typeof registration>[1] = {}) => takeDuty(plane, name, more);

const claim = (id: string, generation: number) => ({ id, generation, started: true, again: false });
const end = (id: string, generation: number) => ({
  id,
  generation,
  state: 'COMPLETED' as const,
  output: 'done',
  error: null,
});

async function row(id: string) {
  const { rows } = await plane.database.query<{
    state: string;
    generation: number;
    attempt: number;
    output: unknown;
    worker: string | null;
  }>('SELECT state, generation, attempt, output, worker_name AS worker FROM execution WHERE id = $1', [id]);
  return rows[0];
}

async function events(id: string) {
  const { rows } = await plane.database.query<{ type: string; sequence: number; data: unknown }>(
    'SELECT type, sequence, data FROM execution_timeline WHERE execution_id = $1 ORDER BY sequence',
    [id],
  );
  return rows;
}

describe('an execution on a worker', () => {
  it('is pushed, claimed, run and ended, and its load goes back to zero', async () => {
    const worker = await onDuty('w-life');
    const id = await plane.submit(version, 'hi');
    const { generation, workflow } = await worker.assigned(id);
    expect(workflow).toBe('test/echo');
    expect(plane.fleet.get('w-life')?.facts.load).toBe(1);

    const { claims } = await worker.report({ claims: [claim(id, generation)] });
    expect(claims).toEqual([
      {
        id,
        code: null,
        message: null,
        claim: {
          workflow: 'test/echo',
          version: 1,
          input: 'hi',
          attempt: 1,
          maxAttempts: 3,
          timeoutSeconds: null,
          workflowRunner: null,
          token: expect.stringMatching(/^msx_/),
          steps: [],
          stepsAfter: null,
        },
      },
    ]);
    const { events: noted } = await worker.report({
      events: [{ id, generation, type: 'progress', data: { done: 1 } }],
    });
    expect(noted).toEqual([{ id, code: null, message: null }]);
    const { ends } = await worker.report({ ends: [end(id, generation)] });
    expect(ends).toEqual([{ id, code: null, message: null }]);
    expect(await row(id)).toMatchObject({ state: 'COMPLETED', output: 'done', worker: 'w-life', attempt: 1 });
    expect((await events(id)).map((event) => event.type)).toEqual([
      'CREATED',
      'SCHEDULED',
      'CLAIMED',
      'STARTED',
      'progress',
      'COMPLETED',
    ]);
    await Promise.resolve();
    expect(plane.fleet.get('w-life')?.facts.load).toBe(0);
    await worker.leave();
  });

  it('is claimed by exactly one of fifty claims, and again only by who asks for a lost answer', async () => {
    const worker = await onDuty('w-race');
    const id = await plane.submit(version);
    const { generation } = await worker.assigned(id);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => worker.report({ claims: [claim(id, generation)] })),
    );
    const codes = answers.map(({ claims }) => claims[0]?.code);
    expect(codes.filter((code) => code === null)).toHaveLength(1);
    expect(codes.filter((code) => code === 'CONFLICT')).toHaveLength(49);
    expect((await row(id))?.attempt).toBe(1);

    const again = await worker.report({ claims: [{ ...claim(id, generation), again: true }] });
    expect(again.claims[0]).toMatchObject({ code: null, claim: { attempt: 1, input: 'hello' } });
    await worker.report({ ends: [end(id, generation)] });
    await worker.leave();
  });

  it('takes an end that is sent twice, because its answer was lost, once', async () => {
    const worker = await onDuty('w-twice');
    const id = await plane.submit(version);
    const { generation } = await worker.assigned(id);
    await worker.report({ claims: [claim(id, generation)], ends: [end(id, generation)] });
    const { ends } = await worker.report({ ends: [end(id, generation)] });
    expect(ends).toEqual([{ id, code: null, message: null }]);
    expect((await events(id)).filter((event) => event.type === LATE_WRITE_EVENT)).toEqual([]);
    await worker.leave();
  });

  it('is refused to anyone else, and to nobody in particular', async () => {
    const worker = await onDuty('w-mine');
    const id = await plane.submit(version);
    const { generation } = await worker.assigned(id);
    const thief = await onDuty('w-thief', { role: 'thief' });
    const answer = await thief.report({
      claims: [claim(id, generation), claim('0'.repeat(32), 1)],
      ends: [end(id, generation)],
    });
    expect(answer.claims.map((item) => item.code)).toEqual(['FORBIDDEN', 'NOT_FOUND']);
    expect(answer.ends[0]?.code).toBe('FORBIDDEN');
    expect((await row(id))?.state).toBe('SCHEDULED');
    await thief.leave();
    await worker.report({ claims: [claim(id, generation)], ends: [end(id, generation)] });
    await worker.leave();
  });

  it('fails alone where one item of a report cannot be taken', async () => {
    const worker = await onDuty('w-mixed');
    const id = await plane.submit(version);
    const { generation } = await worker.assigned(id);
    const answer = await worker.report({
      claims: [claim('f'.repeat(32), 1), claim(id, generation)],
      events: [
        { id, generation, type: 'COMPLETED', data: null },
        { id, generation, type: 'note', data: '\u0000' },
      ],
      ends: [end('f'.repeat(32), 1), end(id, generation)],
    });
    expect(answer.claims.map((item) => item.code)).toEqual(['NOT_FOUND', null]);
    expect(answer.events.map((item) => item.code)).toEqual(['BAD_INPUT', null]);
    expect(answer.ends.map((item) => item.code)).toEqual(['NOT_FOUND', null]);
    await worker.leave();
  });
});

describe('a worker that loses its claim', () => {
  it('says goodbye and its execution goes on elsewhere; the late result is refused and kept as an event, once', async () => {
    const first = await onDuty('w-first');
    const id = await plane.submit(version);
    const { generation } = await first.assigned(id);
    await first.report({ claims: [claim(id, generation)] });
    await first.leave();

    const second = await onDuty('w-second');
    const again = await second.assigned(id);
    expect(again.generation).toBe(generation + 2);
    await plane.workforce.protocol.register(operator, registration('w-first'));
    const late = { ...emptyReport, ends: [end(id, generation)] };
    const { ends } = await plane.workforce.protocol.report(operator, 'w-first', 'w-first-1', late);
    expect(ends[0]?.code).toBe('CONFLICT');
    await plane.workforce.protocol.report(operator, 'w-first', 'w-first-1', late);
    await second.report({ claims: [claim(id, again.generation)], ends: [end(id, again.generation)] });

    const kept = (await events(id)).filter((event) => event.type === LATE_WRITE_EVENT);
    expect(kept).toHaveLength(1);
    expect(kept[0]?.data).toMatchObject({ wrote: 'COMPLETED', afterMs: expect.any(Number) as number });
    expect(await row(id)).toMatchObject({ state: 'COMPLETED', worker: 'w-second', attempt: 2 });
    const sequences = (await events(id)).map((event) => event.sequence);
    expect(new Set(sequences).size).toBe(sequences.length);
    await plane.workforce.workers.remove('w-first', operator, 'rq');
    await second.leave();
  });

  it('is told so by its next heartbeat', async () => {
    const worker = await onDuty('w-told');
    const id = await plane.submit(version);
    const { generation } = await worker.assigned(id);
    await worker.report({ claims: [claim(id, generation)] });
    const beat = (claims: { id: string; generation: number }[]) =>
      plane.workforce.protocol.heartbeat(operator, 'w-told', 'w-told-1', { ...healthy, claims });
    expect((await beat([{ id, generation }])).lost).toEqual([]);
    expect((await beat([{ id, generation: generation - 1 }])).lost).toEqual([id]);
    await worker.report({ ends: [end(id, generation)] });
    expect((await beat([{ id, generation }])).lost).toEqual([id]);
    await worker.leave();
  });

  it('gives back what it cannot take; the attempt does not count, and another worker gets it', async () => {
    const busy = await onDuty('w-busy');
    const id = await plane.submit(version);
    const { generation } = await busy.assigned(id);
    const idle = await onDuty('w-idle');
    const { releases } = await busy.report({ releases: [{ id, generation, reason: 'busy' }] });
    expect(releases).toEqual([{ id, code: null, message: null }]);
    const next = await idle.assigned(id);
    const { claims } = await idle.report({ claims: [claim(id, next.generation)], ends: [end(id, next.generation)] });
    expect(claims[0]?.claim?.attempt).toBe(1);
    await busy.leave();
    await idle.leave();
  });
});

describe('a name', () => {
  it('belongs to the newest process; the older is told, loses its claims at once and may not come back', async () => {
    const old = await onDuty('w-name', { instanceId: 'old' });
    const id = await plane.submit(version);
    const { generation } = await old.assigned(id);
    await old.report({ claims: [claim(id, generation)] });

    const young = await onDuty('w-name', { instanceId: 'young' });
    expect((await old.next()).replaced).toBe(true);
    const again = await young.assigned(id);
    expect(again.generation).toBeGreaterThan(generation);
    await expect(old.report({ ends: [end(id, generation)] })).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(onDuty('w-name', { instanceId: 'old' })).rejects.toMatchObject({ code: 'CONFLICT' });
    await young.report({ claims: [claim(id, again.generation)], ends: [end(id, again.generation)] });
    await young.leave();
  });

  it('is checked with everything else that the worker says, all problems at once', async () => {
    const bad = registration('bad name', {
      role: '-',
      capacity: 0,
      labels: [{ key: 'flux.service.chat', value: 'true' }],
      workflows: ['no-namespace'],
    });
    const error = await plane.workforce.protocol.register(operator, bad).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(MusterError);
    const { issues } = error as MusterError;
    expect(issues.map((issue) => issue.path)).toEqual([
      'name',
      'role',
      'instanceId',
      'labels.0.key',
      'capacity',
      'workflows.0',
    ]);
    expect(plane.fleet.get('bad name')).toBeUndefined();
  });

  it('that nobody has registered can do nothing', async () => {
    await expect(plane.workforce.protocol.heartbeat(operator, 'nobody', 'x', healthy)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('heartbeats', () => {
  it('drop a bad metrics payload whole, with a warning, and keep the last one', async () => {
    const worker = await onDuty('w-metrics');
    const beat = (metrics: unknown) =>
      plane.workforce.protocol.heartbeat(operator, 'w-metrics', 'w-metrics-1', { ...healthy, metrics });
    await beat({ temp: 61 });
    for (const bad of [{ temp: '62' }, { temp: 62, other: null }, [1], 5, { ['k'.repeat(65)]: 1 }]) {
      expect((await beat(bad)).warnings).toHaveLength(1);
    }
    expect(plane.fleet.get('w-metrics')?.facts.metrics.get('temp')).toBe(61);
    await beat({});
    expect(plane.fleet.get('w-metrics')?.facts.metrics.size).toBe(0);
    await worker.leave();
  });

  it('with a failing check take the worker out until the check passes', async () => {
    const worker = await onDuty('w-check');
    const beat = (ok: boolean) =>
      plane.workforce.protocol.heartbeat(operator, 'w-check', 'w-check-1', {
        ...healthy,
        healthy: ok,
        checks: [{ name: 'disk', healthy: ok, message: ok ? null : 'full' }],
      });
    await beat(false);
    expect(plane.fleet.get('w-check')?.facts).toMatchObject({
      status: 'UNHEALTHY',
      statusReasons: ['check disk failing: full'],
    });
    const id = await plane.submit(version);
    await beat(true);
    const { generation } = await worker.assigned(id);
    await worker.report({ claims: [claim(id, generation)], ends: [end(id, generation)] });
    await worker.leave();
  });
});

describe('an operator', () => {
  it('cordons a worker, which gets nothing new until it is active again', async () => {
    const worker = await onDuty('w-cordon');
    await plane.workforce.workers.setAvailability('w-cordon', 'CORDONED', operator, 'rq');
    const id = await plane.submit(version);
    expect((await plane.dispatcher.whyWaiting([id])).get(id)?.rejections).toContainEqual({
      reason: 'CORDONED',
      count: 1,
    });
    await plane.workforce.workers.setAvailability('w-cordon', 'ACTIVE', operator, 'rq');
    const { generation } = await worker.assigned(id);
    await worker.report({ claims: [claim(id, generation)], ends: [end(id, generation)] });
    await worker.leave();
  });

  it('drains a worker, which is told so, also when it comes back in the middle of it', async () => {
    const worker = await onDuty('w-drain');
    await plane.workforce.workers.setAvailability('w-drain', 'DRAINING', operator, 'rq');
    expect((await worker.next()).drain).toBe(true);
    await worker.hangUp();
    await plane.workforce.protocol.register(operator, registration('w-drain'));
    const again = plane.workforce.protocol.inbox(operator, 'w-drain', 'w-drain-1');
    expect((await again.next()).value).toMatchObject({ drain: true });
    await again.return(undefined);
    await worker.leave();
  });

  it('removes a worker: it is gone everywhere, its claims are released once, and the name is free again', async () => {
    const worker = await onDuty('w-gone');
    const id = await plane.submit(version);
    const { generation } = await worker.assigned(id);
    await worker.report({ claims: [claim(id, generation)] });
    await plane.workforce.workers.remove('w-gone', operator, 'rq');
    expect(plane.fleet.get('w-gone')).toBeUndefined();
    expect(await row(id)).toMatchObject({ state: 'PENDING', generation: generation + 1, worker: null });
    await worker.hangUp();

    const back = await onDuty('w-gone', { instanceId: 'w-gone-2' });
    const again = await back.assigned(id);
    await back.report({ claims: [claim(id, again.generation)], ends: [end(id, again.generation)] });
    await back.leave();
  });

  it('writes metadata that is merged, checked, audited and read at the next dispatch', async () => {
    const worker = await onDuty('w-meta');
    const { workers } = plane.workforce;
    await workers.setMetadata('w-meta', { pool: 'gold', tier: 5, cleared: true }, false, operator, 'rq');
    await workers.setMetadata('w-meta', { tier: 6 }, false, operator, 'rq');
    expect(Object.fromEntries(plane.fleet.get('w-meta')?.facts.metadata ?? [])).toEqual({
      pool: 'gold',
      tier: 6,
      cleared: 'true',
    });
    await expect(
      workers.setMetadata('w-meta', { 'bad key': 1, nested: {} }, true, operator, 'rq'),
    ).rejects.toMatchObject({
      code: 'BAD_INPUT',
      issues: [{ path: 'metadata.bad key' }, { path: 'metadata.nested' }],
    });
    await workers.unsetMetadata('w-meta', ['tier', 'absent'], false, operator, 'rq');
    expect(Object.fromEntries(plane.fleet.get('w-meta')?.facts.metadata ?? [])).toEqual({
      pool: 'gold',
      cleared: 'true',
    });
    await expect(workers.unsetMetadata('w-meta', [], false, operator, 'rq')).rejects.toMatchObject({
      code: 'BAD_INPUT',
    });
    const { rows } = await plane.database.query<{ n: number }>(
      `SELECT count(*) AS n FROM audit WHERE action = 'worker.metadata' AND target = 'worker:w-meta' AND actor = 'operator'`,
    );
    expect(rows[0]?.n).toBe(3);
    await worker.leave();
  });
});
