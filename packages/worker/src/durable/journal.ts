import type { RecordedStep, StepKind } from '../run-host.ts';
import { NonDeterminismError } from './non-determinism-error.ts';

/**
 * What earlier handlers of an execution have recorded. Positions tell which call a step belongs to; the order in which
 * results reached the handler tells which call is made at which position when several chains run beside each other.
 * Both are kept: results are handed over again in the order of the first time.
 */
export class Journal {
  readonly #steps: ReadonlyMap<number, RecordedStep>;
  readonly #ranks: ReadonlyMap<number, number>;
  /** Highest position recorded; -1: none. */
  readonly last: number;
  /** How many steps are done. */
  readonly done: number;

  /**
   * `generation`: the claim that replays. What the server completed after that claim was taken counts as open: whether
   * a handler sees it must not depend on when the steps were read.
   */
  constructor(steps: readonly RecordedStep[], generation: number) {
    const seen = steps.map((step) =>
      step.done && (step.generation ?? 0) > generation ? { ...step, done: false, remainingMs: 0 } : step,
    );
    this.#steps = new Map(seen.map((step) => [step.position, step]));
    this.last = seen.reduce((last, step) => Math.max(last, step.position), -1);
    const done = seen.filter((step) => step.done).toSorted(byOrderOfDelivery);
    this.#ranks = new Map(done.map((step, rank) => [step.position, rank]));
    this.done = done.length;
  }

  /** What is recorded at that position; undefined: nothing. Throws NonDeterminismError where it is another kind or name. */
  at(position: number, kind: StepKind, name: string): RecordedStep | undefined {
    const step = this.#steps.get(position);
    if (step === undefined || (step.kind === kind && step.name === name)) return step;
    throw new NonDeterminismError(position, step, { kind, name });
  }

  /** The handler has ended after `calls` calls. Throws NonDeterminismError where more are recorded. */
  checkEnd(calls: number): void {
    for (let position = calls; position <= this.last; position += 1) {
      const step = this.#steps.get(position);
      if (step !== undefined) throw new NonDeterminismError(position, step, undefined);
    }
  }

  /** The place of a done step among all that were handed over, from 0. */
  rank(position: number): number {
    return this.#ranks.get(position) ?? 0;
  }
}

// Within one claim the handler first saw what the server had completed until then, then what it completed itself.
function byOrderOfDelivery(a: RecordedStep, b: RecordedStep): number {
  return (a.generation ?? 0) - (b.generation ?? 0) || (a.order ?? -1) - (b.order ?? -1) || a.position - b.position;
}
