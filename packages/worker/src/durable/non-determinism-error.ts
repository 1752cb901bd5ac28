import type { StepKind } from '../run-host.ts';

export interface StepIdentity {
  readonly kind: StepKind;
  readonly name: string;
}

/**
 * A handler that is run again did not do what it did before: at that position another step is recorded. The execution
 * fails with it, whatever the handler does about it, and another try would end the same.
 */
export class NonDeterminismError extends Error {
  readonly retryable = false;
  readonly position: number;
  readonly recorded: StepIdentity;
  /** What the handler asked for instead; undefined: it ended. */
  readonly found: StepIdentity | undefined;

  constructor(position: number, recorded: StepIdentity, found: StepIdentity | undefined) {
    const instead =
      found === undefined ? 'this time the handler ended' : `this time the handler came with ${of(found)}`;
    super(
      `At position ${position} ${of(recorded)} is recorded, but ${instead}. ` +
        'A handler that is run again has to make the same calls in the same order: keep time, randomness and everything from outside in tasks, and give changed code a new workflow name.',
    );
    this.name = 'NonDeterminismError';
    this.position = position;
    this.recorded = recorded;
    this.found = found;
  }
}

function of({ kind, name }: StepIdentity): string {
  return `${kind} ${JSON.stringify(name)}`;
}
