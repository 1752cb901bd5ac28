import { performance } from 'node:perf_hooks';
import type { WorkerInboxSubscription } from '@muster/client';
import { claimedSteps } from './claimed-steps.ts';
import type { Log } from './log.ts';
import { type RunStatistics, runOutcomeOf } from './metrics/run-statistics.ts';
import { describeError } from './handler-error.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { ClaimAnswer, EndItem, Reporter } from './reporter.ts';
import { Run } from './run.ts';
import type { AbortCause, ExecutionAccess, RecordedStep, Runner } from './run-host.ts';
import type { Workflow } from './workflow.ts';

export type Assignment = WorkerInboxSubscription['workerInbox']['assignments'][number];
/** What the answer to a claim says about the work. */
type Claim = NonNullable<ClaimAnswer['claim']>;

interface Held {
  readonly id: string;
  readonly generation: number;
  /** Absent until the claim is answered. */
  run?: Run;
  /** Set where it was aborted before its claim was answered. */
  abortedBefore?: AbortCause;
  /** The handler has ended; the report of it has not been answered yet. */
  ending?: true;
}

export interface ExecutionsOptions {
  readonly reporter: Reporter;
  readonly workflows: ReadonlyMap<string, Workflow>;
  readonly runner: Runner;
  /** Most handlers at once; null: no limit. */
  readonly capacity: number | null;
  /** Of the server and of this worker, for what handlers ask by themselves. */
  readonly access: Omit<ExecutionAccess, 'token'>;
  readonly graceMs: number;
  readonly log: Log;
  readonly statistics: Pick<RunStatistics, 'ended' | 'firstCheckpoint'>;
  /** The last one has gone. */
  readonly onIdle: () => void;
}

/** What the worker holds: claims it, runs it, reports it, and lets go of what it has lost. */
export class Executions {
  readonly #options: ExecutionsOptions;
  readonly #held = new Map<string, Held>();
  #refusal: 'draining' | 'worker stopping' | undefined;

  constructor(options: ExecutionsOptions) {
    this.#options = options;
  }

  /** Handlers running now. */
  get running(): number {
    let count = 0;
    for (const held of this.#held.values()) if (held.run !== undefined && !isLeaving(held)) count += 1;
    return count;
  }

  /** Nothing claimed, running or waiting to be reported. */
  get idle(): boolean {
    return this.#held.size === 0;
  }

  /** What it believes to hold or has asked for, for the heartbeat: what it does not list for long is given to others. */
  claims(): { id: string; generation: number }[] {
    return [...this.#held.values()].map(({ id, generation }) => ({ id, generation }));
  }

  /** Takes nothing new from now on: assignments are given back with that reason. */
  refuse(reason: 'draining' | 'worker stopping'): void {
    this.#refusal = reason;
  }

  /**
   * Claims what it can run and gives back the rest. `again`: the list also holds what was claimed on an earlier
   * connection; what is known already is left alone.
   */
  assign(assignments: readonly Assignment[], again: boolean): void {
    for (const assignment of assignments) {
      const held = this.#held.get(assignment.id);
      if (held !== undefined) {
        if (held.generation >= assignment.generation) continue;
        this.#lose(held);
      }
      const refusal = this.#refusalOf(assignment);
      if (refusal === undefined) void this.#take(assignment, again);
      else void this.#release(assignment.id, assignment.generation, refusal);
    }
  }

  /** The server wants it cancelled. */
  cancel(id: string, generation: number): void {
    const held = this.#held.get(id);
    if (held !== undefined && held.generation === generation) this.#abort(held, 'cancelled');
  }

  /** That claim is over: aborts the handler and forgets it; what it still reports will be refused. A later claim stays. */
  lose(id: string, generation: number): void {
    const held = this.#held.get(id);
    if (held !== undefined && held.generation <= generation) this.#lose(held);
  }

  /** Aborts every handler for that cause. */
  abortAll(cause: AbortCause): void {
    for (const held of this.#held.values()) this.#abort(held, cause);
  }

  #lose(held: Held): void {
    const { id, run } = held;
    if (run?.suspending === true) {
      // Not lost but let go: the answer to that is only slower than what tells of it.
      run.suspended();
      this.#forget(held);
      return;
    }
    if (this.#held.get(id) !== held) return;
    this.#options.log('warn', 'A claim is lost; its handler is aborted.', { execution: id });
    this.#abort(held, 'lost');
    this.#forget(held);
  }

  #refusalOf(assignment: Assignment): string | undefined {
    if (this.#refusal !== undefined) return this.#refusal;
    if (!this.#options.workflows.has(assignment.workflow)) return `no handler for ${assignment.workflow}`;
    const { capacity } = this.#options;
    return capacity !== null && this.#occupied() >= capacity ? 'busy' : undefined;
  }

  #occupied(): number {
    let count = 0;
    for (const held of this.#held.values()) if (!isLeaving(held)) count += 1;
    return count;
  }

  async #take({ id, generation }: Assignment, again: boolean): Promise<void> {
    const held: Held = { id, generation };
    this.#held.set(id, held);
    const { reporter, log } = this.#options;
    const answer = await reporter.claims.add({ id, generation, started: true, again });
    const claim = answer.claim;
    if (answer.code !== null || claim === null) {
      log('debug', `A claim was refused: ${answer.code} ${answer.message ?? ''}`, { execution: id });
      this.#forget(held);
      return;
    }
    const steps = await claimedSteps(reporter, held, { steps: claim.steps, after: claim.stepsAfter });
    if (steps === undefined) log('debug', 'A claim was over before it began.', { execution: id });
    else if (!this.#options.workflows.has(claim.workflow))
      await this.#release(id, generation, `no handler for ${claim.workflow}`);
    else if (held.abortedBefore !== undefined) await this.#report(held, outcomeBeforeStart(held.abortedBefore));
    else await this.#run(held, claim, steps);
    this.#forget(held);
  }

  async #run(held: Held, claim: Claim, steps: readonly RecordedStep[]): Promise<void> {
    const { reporter, runner, graceMs, log, statistics } = this.#options;
    const { workflow, version, workflowRunner, attempt, maxAttempts, timeoutSeconds, input, token } = claim;
    const run = new Run({
      job: {
        executionId: held.id,
        generation: held.generation,
        workflow,
        version,
        runner: workflowRunner,
        attempt,
        maxAttempts,
        timeoutSeconds,
        input,
        access: { ...this.#options.access, token },
        steps,
      },
      runner,
      reporter,
      graceMs,
      onFirstCheckpoint: (gapMs) => statistics.firstCheckpoint(gapMs),
      onLost: () => this.#lose(held),
      log,
    });
    held.run = run;
    const startedAt = performance.now();
    const outcome = await run.outcome();
    held.ending = true;
    const ran = runOutcomeOf(outcome, run.cause);
    if (ran !== undefined) statistics.ended(ran, performance.now() - startedAt);
    await this.#report(held, outcome);
  }

  async #report({ id, generation }: Held, outcome: Outcome): Promise<void> {
    if (outcome.kind === 'nothing') return;
    if (outcome.kind === 'release') {
      await this.#release(id, generation, outcome.reason);
      return;
    }
    const { reporter, log } = this.#options;
    const answer = await reporter.ends.add({ id, generation, ...outcome.end });
    if (answer.code === null) return;
    log('warn', `The end of an execution was refused: ${answer.code} ${answer.message ?? ''}`, {
      execution: id,
      generation,
    });
    const unreadable = answer.code === 'BAD_INPUT' || answer.code === 'TOO_LARGE';
    if (unreadable && outcome.end.state === 'COMPLETED')
      await reporter.ends.add(refusedOutput(id, generation, answer.message));
  }

  async #release(id: string, generation: number, reason: string): Promise<void> {
    await this.#options.reporter.releases.add({ id, generation, reason });
  }

  #abort(held: Held, cause: AbortCause): void {
    if (held.run === undefined) held.abortedBefore ??= cause;
    else held.run.abort(cause);
  }

  #forget(held: Held): void {
    if (this.#held.get(held.id) !== held) return;
    this.#held.delete(held.id);
    if (this.#held.size === 0) this.#options.onIdle();
  }
}

/** Takes no slot any more, although the server has not confirmed that it is gone. */
function isLeaving({ ending, run }: Held): boolean {
  return ending === true || run?.suspending === true;
}

/** What was aborted before its handler began has nothing to tell where the claim is lost; else the abort's cause says it. */
function outcomeBeforeStart(cause: AbortCause): Outcome {
  return cause === 'lost'
    ? { kind: 'nothing' }
    : outcomeOf({ kind: 'threw', error: describeError(undefined) }, cause, null);
}

function refusedOutput(id: string, generation: number, message: string | null): EndItem {
  const error = {
    type: 'OutputError',
    message: `The server refused the output: ${message ?? 'no reason given'}`,
    retryable: false,
  };
  return { id, generation, state: 'FAILED', error };
}
