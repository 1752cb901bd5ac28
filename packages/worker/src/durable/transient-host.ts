import type { HostAnswer, RunEvent, RunHost, RunJob } from '../run-host.ts';
import type { Workflow } from '../workflow.ts';

/** What a transient child is started with: it is a part of its caller's run and has an id only in so far. */
export function transientJob(workflow: Workflow, caller: RunJob, input: unknown, position: number): RunJob {
  return {
    executionId: `${caller.executionId}:${position}`,
    generation: caller.generation,
    workflow: workflow.ref,
    version: 0,
    runner: caller.runner,
    attempt: 1,
    maxAttempts: 1,
    timeoutSeconds: workflow.options.timeoutSeconds ?? null,
    input,
    access: caller.access,
    steps: [],
  };
}

/** Carries a transient child: nothing of it is recorded but its result, so it cannot wait for what outlives this run. */
export function transientHost(ref: string, longSleepMs: number, addEvent: (event: RunEvent) => void): RunHost {
  const refuse = (what: string): Promise<HostAnswer> =>
    Promise.resolve({
      status: 'refused',
      code: 'BAD_INPUT',
      message: `the transient call of ${ref} ${what}; call it without transient.`,
    });
  return {
    recordStep: async ({ kind, done, delayMs = 0 }) => {
      if (kind === 'RESUME') return await refuse('cannot pause');
      if (!done && delayMs > longSleepMs) return await refuse(`cannot sleep longer than ${longSleepMs} ms`);
      return { status: 'taken' };
    },
    call: () => refuse('can only call workflows that its worker runs in process'),
    suspend: () => refuse('cannot wait'),
    event: async (event) => addEvent(event),
  };
}
