import type { ExecutionState, StepKind } from '../../api/generated/graphql.ts';
import { status, type StatusLook } from '../../status.ts';
import type { ExecutionStep } from './execution-queries.ts';

/** How much of a result or an error stands in the table; all of it is a click away. */
const LINE_LENGTH = 80;

/** What a step did, or what it waits for. */
export const stepKindWords: Record<StepKind, string> = {
  TASK: 'Task',
  NOW: 'Time',
  RANDOM: 'Random number',
  TIMER: 'Sleep',
  RESUME: 'Pause',
  CALL: 'Call',
};

/** The names that the SDK gives to what a handler does not name. */
const GIVEN: Partial<Record<StepKind, string>> = { NOW: 'now', RANDOM: 'random', TIMER: 'sleep' };

/** Its name, where that says more than its kind does. */
export function stepName({ kind, name }: Pick<ExecutionStep, 'kind' | 'name'>): string | null {
  return name === '' || GIVEN[kind] === name ? null : name;
}

/** Nothing is waited for any more once the execution has ended: what is open then stays so. */
export function stepLook(
  { kind, done, error, wakeAt }: Pick<ExecutionStep, 'kind' | 'done' | 'error' | 'wakeAt'>,
  execution: ExecutionState,
): StatusLook {
  if (done) return error ? status.step.FAILED : status.step.DONE;
  if (isOver(execution)) return status.step.LEFT;
  if (kind === 'RESUME' || kind === 'CALL') return status.step[kind];
  return kind === 'TIMER' && wakeAt != null ? status.step.TIMER : status.step.OPEN;
}

/** Whether nothing can be recorded any more. */
function isOver(state: ExecutionState): boolean {
  return state === 'COMPLETED' || state === 'FAILED' || state === 'CANCELLED';
}

/** What a step came to, in a line: `cut` where the line is not all that there is. null where there is nothing to say. */
export function stepLine({
  kind,
  done,
  result,
  error,
}: Pick<ExecutionStep, 'kind' | 'done' | 'result' | 'error'>): { text: string; cut: boolean } | null {
  if (!done) return null;
  if (error) {
    const { text, cut } = shortened(error.message === '' ? error.type : `${error.type}: ${error.message}`);
    return { text, cut: cut || error.stack != null };
  }
  // A sleep has no result but that it is over.
  if (kind === 'TIMER' && result == null) return null;
  return shortened(JSON.stringify(result ?? null));
}

function shortened(whole: string): { text: string; cut: boolean } {
  const line = whole.replaceAll(/\s+/g, ' ');
  if (line.length <= LINE_LENGTH) return { text: line, cut: line !== whole };
  // Never through the middle of a character of two units.
  return { text: `${line.slice(0, LINE_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, '')}…`, cut: true };
}
