import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call, codes, completed, type Held, pause, step, suspend, timer } from '../../testing/durable-items.ts';
import { operator, startTestControlPlane, type TestControlPlane } from '../../testing/test-control-plane.ts';
import { onDuty, type WorkerOnDuty } from '../../testing/worker-on-duty.ts';

let plane: TestControlPlane;
let version: number;
let worker: WorkerOnDuty;
let count = 0;

beforeAll(async () => {
  plane = await startTestControlPlane();
  version = await plane.registerWorkflow('durable');
});
afterAll(() => plane.stop());
beforeEach(async () => {
  count += 1;
  worker = await onDuty(plane, `w-${count}`, { capacity: null });
});
afterEach(() => worker.leave());

async function running(): Promise<Held> {
  const id = await plane.submit(version);
  const { generation } = await worker.claimed(id);
  return { id, generation };
}

async function row(id: string): Promise<Record<string, unknown>> {
  const { rows } = await plane.database.query('SELECT * FROM execution WHERE id = $1', [id]);
  return rows[0] ?? {};
}

async function timeline(id: string): Promise<string[]> {
  const { rows } = await plane.database.query<{ type: string; sequence: number }>(
    'SELECT type, sequence FROM execution_timeline WHERE execution_id = $1 ORDER BY sequence',
    [id],
  );
  expect(rows.map((one) => one.sequence)).toEqual(rows.map((_one, index) => index + 1));
  return rows.map((one) => one.type);
}

/** What the next claim says of its steps. */
async function resumed(id: string) {
  const claim = await worker.claimed(id);
  return { claim, steps: claim.steps, held: { id, generation: claim.generation } };
}

describe('a step', () => {
  it('is recorded once, taken again where the answer was lost, and given to the next claim', async () => {
    const held = await running();
    const items = [
      step(held, 0, { result: { paid: 1 }, order: 0 }),
      step(held, 1, { kind: 'NOW', name: 'now', result: 5, order: 1 }),
      step(held, 2, { error: { type: 'Declined', message: 'no\u0000', stack: null, retryable: false }, order: 2 }),
    ];
    expect(codes((await worker.report({ steps: items })).steps)).toEqual([null, null, null]);
    expect(codes((await worker.report({ steps: items })).steps)).toEqual([null, null, null]);
    const other = await worker.report({ steps: [step(held, 0, { name: 'refund' }), step(held, 1, { name: 'now' })] });
    expect(codes(other.steps)).toEqual(['CONFLICT', 'CONFLICT']);
    expect(other.steps[0]?.message).toBe('Position 0 is TASK "charge" already, not TASK "refund".');
    expect(await row(held.id)).toMatchObject({ step_count: 3, state: 'RUNNING' });

    await worker.report({ releases: [{ ...held, reason: 'busy' }] });
    const { steps, claim, held: again } = await resumed(held.id);
    expect(claim).toMatchObject({ attempt: 2, stepsAfter: null });
    expect(steps).toMatchObject([
      {
        position: 0,
        kind: 'TASK',
        name: 'charge',
        done: true,
        result: { paid: 1 },
        order: 0,
        generation: held.generation,
      },
      { position: 1, kind: 'NOW', result: 5 },
      { position: 2, result: null, error: { type: 'Declined', message: 'no\u0000' } },
    ]);
    const late = await worker.report({ steps: [step(held, 3)] });
    expect(codes(late.steps)).toEqual(['CONFLICT']);
    const later = await worker.report({ steps: [step(again, 0, { result: 'other' })] });
    expect(later.steps[0]).toMatchObject({ code: 'CONFLICT', message: 'Position 0 is recorded already.' });
    expect((await timeline(held.id)).filter((type) => type === 'LATE_WRITE_REFUSED')).toHaveLength(1);
    await worker.report({ ends: [completed(again)] });
  });

  it('is refused alone where it is malformed, and to a worker that does not have the execution', async () => {
    const held = await running();
    const answer = await worker.report({
      steps: [
        step(held, -1),
        step(held, 0, { name: '' }),
        step(held, 0, { name: 'a\u0000' }),
        step(held, 0, { done: false }),
        timer(held, 0, Number.NaN),
        step(held, 0, { result: 1, error: { type: 'E', message: 'e', stack: null, retryable: false } }),
        step(held, 0, { result: 1 }),
        step({ ...held, id: 'f'.repeat(32) }, 0),
      ],
    });
    expect(codes(answer.steps)).toEqual([...Array<string>(6).fill('BAD_INPUT'), null, 'NOT_FOUND']);
    const thief = await onDuty(plane, `thief-${count}`, { role: 'thief' });
    expect(codes((await thief.report({ steps: [step(held, 1)] })).steps)).toEqual(['FORBIDDEN']);
    await thief.leave();
    await worker.report({ ends: [completed(held)] });
  });

  it('opened and completed in one report is done', async () => {
    const held = await running();
    const { steps } = await worker.report({
      steps: [timer(held, 0, 1), step(held, 0, { kind: 'TIMER', name: 'sleep', order: 0 })],
    });
    expect(codes(steps)).toEqual([null, null]);
    await worker.report({ releases: [{ ...held, reason: null }] });
    const { steps: known, held: again } = await resumed(held.id);
    expect(known).toMatchObject([{ kind: 'TIMER', done: true, remainingMs: null }]);
    await worker.report({ ends: [completed(again)] });
  });

  it('has bounds: the ten thousandth is the last, and results have eight mebibytes together', async () => {
    const held = await running();
    await plane.database.query('UPDATE execution SET step_count = 9998 WHERE id = $1', [held.id]);
    const many = await worker.report({ steps: [0, 1, 2].map((n) => step(held, n)) });
    expect(codes(many.steps)).toEqual([null, null, 'TOO_LARGE']);
    expect(codes((await worker.report({ calls: [call(held, 3)] })).calls)).toEqual(['TOO_LARGE']);
    await plane.database.query('UPDATE execution SET step_count = 2, step_bytes = $2 WHERE id = $1', [
      held.id,
      8 * 1_048_576 - 4,
    ]);
    const large = await worker.report({ steps: [step(held, 3, { result: 10 }), step(held, 4, { result: 1000 })] });
    expect(codes(large.steps)).toEqual([null, 'TOO_LARGE']);
    expect(await row(held.id)).toMatchObject({ step_count: 3, step_bytes: 8 * 1_048_576 - 2 });
    await worker.report({ ends: [completed(held)] });
  });

  it('comes in pages, each of which is small, and only to whoever holds the claim', async () => {
    const held = await running();
    const big = 'x'.repeat(100_000);
    for (let at = 0; at < 6; at += 1) await worker.report({ steps: [step(held, at, { result: big })] });
    const rest = Array.from({ length: 600 }, (_, n) => step(held, 6 + n, { result: n }));
    for (let i = 0; i < rest.length; i += 200) await worker.report({ steps: rest.slice(i, i + 200) });
    await worker.report({ releases: [{ ...held, reason: null }] });
    const { claim, held: again } = await resumed(held.id);
    expect(claim.steps.map((one) => one.position)).toEqual([0, 1]);
    expect(claim.stepsAfter).toBe(1);
    const { protocol } = plane.workforce;
    const seen = claim.steps.map((one) => one.position);
    for (let after = claim.stepsAfter; after !== null; ) {
      const page = await protocol.steps(operator, worker.name, worker.instance, again, after);
      expect(page.steps.length).toBeLessThanOrEqual(500);
      seen.push(...page.steps.map((one) => one.position));
      after = page.after;
    }
    expect(seen).toEqual(Array.from({ length: 606 }, (_, n) => n));
    await expect(protocol.steps(operator, worker.name, worker.instance, held, -1)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    await worker.report({ ends: [completed(again)] });
  });
});

describe('a pause', () => {
  it('frees the slot, and goes on with what it is resumed with, on the same worker and in the same attempt', async () => {
    const held = await running();
    const other = await onDuty(plane, `a-${count}`);
    await worker.report({ steps: [pause(held, 0)] });
    expect(codes((await worker.report({ suspends: [suspend(held, 0)] })).suspends)).toEqual([null]);
    expect(codes((await worker.report({ suspends: [suspend(held, 0)] })).suspends)).toEqual([null]);
    expect(await row(held.id)).toMatchObject({
      state: 'PAUSED',
      waiting: 'RESUME',
      waiting_name: 'approval',
      worker_id: null,
      live: false,
    });
    expect(plane.fleet.get(worker.name)?.facts.load).toBe(0);
    expect(codes((await worker.report({ steps: [step(held, 1)], ends: [completed(held)] })).ends)).toEqual([
      'CONFLICT',
    ]);

    await plane.executions.resume(held.id, { ok: true }, operator);
    const { claim, steps, held: again } = await resumed(held.id);
    expect(claim.attempt).toBe(1);
    expect(steps).toMatchObject([
      { kind: 'RESUME', done: true, result: { ok: true }, generation: held.generation + 1 },
    ]);
    await worker.report({ ends: [completed(again)] });
    expect(await timeline(held.id)).toEqual([
      'CREATED',
      'SCHEDULED',
      'CLAIMED',
      'STARTED',
      'PAUSED',
      'LATE_WRITE_REFUSED',
      'RESUMED',
      'SCHEDULED',
      'CLAIMED',
      'STARTED',
      'COMPLETED',
    ]);
    await other.leave();
  });

  it('is told from what cannot be resumed', async () => {
    const held = await running();
    await expect(plane.executions.resume(held.id, 1, operator)).rejects.toMatchObject({ code: 'CONFLICT' });
    await worker.report({ steps: [timer(held, 0, 60_000)], suspends: [suspend(held, 0)] });
    expect(await row(held.id)).toMatchObject({ state: 'PAUSED', waiting: 'TIMER' });
    await expect(plane.executions.resume(held.id, 1, operator)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'It waits for a time, not for a resume.',
    });
    await plane.executions.cancel(held.id, operator);
    expect(await row(held.id)).toMatchObject({ state: 'CANCELLED', wake_at: null, awaited: null });
  });

  it('is refused for steps that are not there', async () => {
    const held = await running();
    const { suspends } = await worker.report({ suspends: [suspend(held, 0, 4), { ...held, positions: [] }] });
    expect(suspends[1]?.code).toBe('BAD_INPUT');
    expect((await worker.report({ suspends: [suspend(held, 0, 4)] })).suspends[0]).toMatchObject({
      code: 'BAD_INPUT',
      message: '2 of the positions have no step: record the steps first.',
    });
    expect((await row(held.id)).state).toBe('RUNNING');
    await worker.report({ ends: [completed(held)] });
  });

  it('says first of several waits what people can do something about', async () => {
    const held = await running();
    await worker.report({
      steps: [timer(held, 0, 60_000), pause(held, 2, 'second'), pause(held, 3)],
      calls: [call(held, 1)],
    });
    await worker.report({ suspends: [suspend(held, 0, 1, 2, 3)] });
    expect(await row(held.id)).toMatchObject({ waiting: 'RESUME', waiting_name: 'second', waiting_position: 2 });
    await plane.executions.resume(held.id, 'yes', operator);
    const { steps, held: again } = await resumed(held.id);
    expect(steps.map((one) => [one.kind, one.done])).toEqual([
      ['TIMER', false],
      ['CALL', false],
      ['RESUME', true],
      ['RESUME', false],
    ]);
    expect(steps[0]?.remainingMs).toBeGreaterThan(50_000);
    await worker.report({ suspends: [suspend(again, 0, 1)] });
    expect(await row(held.id)).toMatchObject({ waiting: 'CHILD', waiting_name: 'test/durable' });
    await plane.executions.cancel(held.id, operator);
  });

  it('ends when its timer has run out, also where that is before it was suspended', async () => {
    const held = await running();
    await worker.report({ steps: [timer(held, 0, 0)] });
    await worker.report({ suspends: [suspend(held, 0)] });
    const first = await resumed(held.id);
    expect(first.steps).toMatchObject([{ kind: 'TIMER', done: true, generation: held.generation + 1 }]);
    await worker.report({ steps: [timer(first.held, 1, 400)], suspends: [suspend(first.held, 1)] });
    expect(await row(held.id)).toMatchObject({ state: 'PAUSED', waiting: 'TIMER' });
    const second = await resumed(held.id);
    expect(second.steps).toMatchObject([{ done: true }, { kind: 'TIMER', done: true }]);
    expect(second.claim.attempt).toBe(1);
    await worker.report({ ends: [completed(second.held)] });
  });
});
