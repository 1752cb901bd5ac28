import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWhy } from '../execution/execution-view.ts';
import { ExecutionReader } from '../execution/execution-reader.ts';
import { codes, completed, type Held, step } from '../../testing/durable-items.ts';
import { healthy, operator, startTestControlPlane, type TestControlPlane } from '../../testing/test-control-plane.ts';
import { onDuty, type WorkerOnDuty } from '../../testing/worker-on-duty.ts';
import { eventually } from '../../dispatch/testing/harness.ts';

let plane: TestControlPlane;
let worker: WorkerOnDuty;
let versions: Record<'plain' | 'twice' | 'once' | 'timed', number>;

beforeAll(async () => {
  plane = await startTestControlPlane({ cancelSeconds: 1 });
  versions = {
    plain: await plane.registerWorkflow('plain'),
    twice: await plane.registerWorkflow('twice', { maxAttempts: 2 }),
    once: await plane.registerWorkflow('once', { maxAttempts: 1 }),
    timed: await plane.registerWorkflow('timed', { maxAttempts: 2, timeoutSeconds: 60 }),
  };
  worker = await onDuty(plane, 'w', { capacity: null });
});
afterAll(async () => {
  await worker.leave();
  await plane.stop();
});

async function running(version: number): Promise<Held> {
  const id = await plane.submit(version);
  return { id, generation: (await worker.claimed(id)).generation };
}

const failed = (held: Held, type: string, retryable: boolean, message = 'broken') => ({
  ...held,
  state: 'FAILED' as const,
  output: undefined,
  error: { type, message, stack: null, retryable },
});

async function row(id: string): Promise<Record<string, unknown>> {
  return (await plane.database.query('SELECT * FROM execution WHERE id = $1', [id])).rows[0] ?? {};
}

async function attempts(id: string) {
  const { rows } = await plane.database.query<{ number: number; outcome: string; error: { type: string } }>(
    'SELECT number, outcome, error FROM attempt WHERE execution_id = $1 ORDER BY generation',
    [id],
  );
  return rows.map(({ error, ...row }) => ({ ...row, type: error.type }));
}

async function why(id: string, maxAttempts: number): Promise<string> {
  const known = (await new ExecutionReader(plane.executor).byIds([id])).get(id);
  if (known === undefined) throw new Error('no such execution');
  return describeWhy(known, null, maxAttempts);
}

/** The back-off of the attempt that has just been given back, ms. */
async function backoff(id: string): Promise<number> {
  const { not_before: until, queued_at: since } = await row(id);
  return (until as Date).getTime() - (since as Date).getTime();
}

describe('a failure that another attempt may mend', () => {
  it('goes back to the queue with a back-off, its steps and a record, until the attempts are used up', async () => {
    const first = await running(versions.plain);
    await worker.report({ steps: [step(first, 0, { result: 'kept', order: 0 })] });
    const { ends } = await worker.report({ ends: [failed(first, 'Flaky', true)] });
    expect(codes(ends)).toEqual([null]);
    expect(await row(first.id)).toMatchObject({ state: 'PENDING', attempt: 1, generation: first.generation + 1 });
    expect(await backoff(first.id)).toBeGreaterThanOrEqual(800);
    expect(await backoff(first.id)).toBeLessThanOrEqual(1_200);

    const claim = await worker.claimed(first.id);
    expect(claim).toMatchObject({ attempt: 2, steps: [{ position: 0, result: 'kept' }] });
    const second = { id: first.id, generation: claim.generation };
    await worker.report({ ends: [failed(second, 'TimeoutError', false, 'too slow')] });
    expect(await backoff(first.id)).toBeGreaterThanOrEqual(1_600);
    expect(await backoff(first.id)).toBeLessThanOrEqual(2_400);

    const third = { id: first.id, generation: (await worker.claimed(first.id)).generation };
    expect(codes((await worker.report({ ends: [failed(third, 'Flaky', true)] })).ends)).toEqual([null]);
    expect(await row(first.id)).toMatchObject({
      state: 'FAILED',
      attempt: 3,
      error: { type: 'Flaky', message: 'broken', retryable: true },
    });
    expect(await attempts(first.id)).toEqual([
      { number: 1, outcome: 'FAILED', type: 'Flaky' },
      { number: 2, outcome: 'TIMED_OUT', type: 'TimeoutError' },
    ]);
    expect(await why(first.id, 3)).toBe('It failed in each of its 3 attempts, and its version allows no more: broken');
  });

  it('ends at once where the handler says that trying again is no use', async () => {
    const held = await running(versions.plain);
    await worker.report({ ends: [failed(held, 'Refused', false)] });
    expect(await row(held.id)).toMatchObject({ state: 'FAILED', attempt: 1 });
  });

  it('of an execution that is being cancelled ends it', async () => {
    const held = await running(versions.plain);
    await plane.executions.cancel(held.id, operator);
    await worker.report({ ends: [failed(held, 'Flaky', true)] });
    expect(await row(held.id)).toMatchObject({ state: 'CANCELLED', generation: held.generation });
  });

  it('is told once more where its answer was lost, and changes nothing', async () => {
    const held = await running(versions.once);
    const end = failed(held, 'Flaky', true);
    await worker.report({ ends: [end] });
    expect(codes((await worker.report({ ends: [end] })).ends)).toEqual([null]);
    expect(await why(held.id, 1)).toBe('It failed, and its version allows one attempt: broken');
  });
});

describe('an execution that crashes every runner', () => {
  it('stops after its attempts and says so', async () => {
    const first = await running(versions.twice);
    await worker.report({ ends: [failed(first, 'CrashError', false, 'the runner ended with SIGSEGV\u0000')] });
    const second = { id: first.id, generation: (await worker.claimed(first.id)).generation };
    await worker.report({ ends: [failed(second, 'CrashError', false, 'the runner ended with SIGSEGV')] });
    expect(await row(first.id)).toMatchObject({
      state: 'FAILED',
      error: { type: 'CrashError', message: 'the runner ended with SIGSEGV in attempt 2, the last one' },
    });
    expect(await attempts(first.id)).toEqual([{ number: 1, outcome: 'CRASHED', type: 'CrashError' }]);
    expect(await why(first.id, 2)).toContain('each of its 2 attempts');
  });

  it('or takes the whole worker with it waits for its back-off', async () => {
    const victim = await onDuty(plane, 'victim', { role: 'victim' });
    const item = { versionId: versions.plain, workflowRef: 'test/plain', targetRoles: [], input: null, priority: 0 };
    const [outcome] = await plane.executions.submit([{ ...item, requiredWorker: 'victim' }], operator);
    const id = outcome !== undefined && 'id' in outcome ? outcome.id : '';
    await victim.claimed(id);
    await victim.leave();
    expect(await row(id)).toMatchObject({ state: 'PENDING', attempt: 1 });
    expect(await backoff(id)).toBeGreaterThanOrEqual(800);
    await plane.executions.cancel(id, operator);
  });
});

describe('the server', () => {
  it('ends an attempt that takes longer than its version allows, also where the worker is silent about it', async () => {
    const held = await running(versions.timed);
    const late = (seconds: number) =>
      plane.database.query(
        `UPDATE execution SET claimed_at = clock_timestamp() - make_interval(secs => $2) WHERE id = $1`,
        [held.id, seconds],
      );
    await late(66);
    await eventually(async () => (await row(held.id)).state === 'PENDING', 20_000);
    expect(await attempts(held.id)).toEqual([{ number: 1, outcome: 'TIMED_OUT', type: 'TimeoutError' }]);
    expect(codes((await worker.report({ ends: [completed(held)] })).ends)).toEqual(['CONFLICT']);
    const again = { id: held.id, generation: (await worker.claimed(held.id)).generation };
    await late(66);
    await eventually(async () => (await row(held.id)).state === 'FAILED', 20_000);
    expect((await row(held.id)).error).toEqual({
      type: 'TimeoutError',
      message: 'it took longer than 60 s in attempt 2, the last one',
      retryable: true,
    });
    expect(codes((await worker.report({ ends: [completed(again)] })).ends)).toEqual(['CONFLICT']);
  });

  it('ends a cancelled execution whose worker lives and does not answer; what that worker writes later is refused', async () => {
    const held = await running(versions.plain);
    await plane.executions.cancel(held.id, operator);
    expect((await row(held.id)).state).toBe('CANCELLING');
    await eventually(async () => (await row(held.id)).state === 'CANCELLED', 20_000);
    expect(await row(held.id)).toMatchObject({ generation: held.generation + 1, live: false, worker_id: null });
    const { ends, steps } = await worker.report({ steps: [step(held, 0)], ends: [completed(held)] });
    expect([codes(steps), codes(ends)]).toEqual([['CONFLICT'], ['CONFLICT']]);
    const beat = { ...healthy, claims: [held] };
    expect((await plane.workforce.protocol.heartbeat(operator, worker.name, worker.instance, beat)).lost).toEqual([
      held.id,
    ]);
    const { rows } = await plane.database.query<{ type: string; sequence: number }>(
      'SELECT type, sequence FROM execution_timeline WHERE execution_id = $1 ORDER BY sequence',
      [held.id],
    );
    expect(rows.map(({ type }) => type)).toEqual([
      'CREATED',
      'SCHEDULED',
      'CLAIMED',
      'STARTED',
      'CANCEL_REQUESTED',
      'ATTEMPT_CANCELLED',
      'CANCELLED',
      'LATE_WRITE_REFUSED',
    ]);
    expect(rows.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});
