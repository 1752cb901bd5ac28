import { describe, expect, test } from 'vitest';
import type { RecordedStep } from '../run-host.ts';
import { Journal } from './journal.ts';
import { NonDeterminismError } from './non-determinism-error.ts';

const step = (position: number, more: Partial<RecordedStep> = {}): RecordedStep => ({
  position,
  kind: 'TASK',
  name: `t${position}`,
  done: true,
  result: position,
  generation: 1,
  order: position,
  ...more,
});

/** Positions of the done steps as they are handed over. */
function order(journal: Journal, positions: readonly number[]): number[] {
  return positions.toSorted((a, b) => journal.rank(a) - journal.rank(b));
}

describe('the order in which results are handed over again', () => {
  test('is claim by claim; what the server completed before a claim comes first in it', () => {
    const steps = [
      step(0, { generation: 3, kind: 'CALL', order: null }),
      step(1, { generation: 1, order: 1 }),
      step(2, { generation: 1, order: 0 }),
      step(3, { generation: 2, kind: 'CALL', order: null }),
      step(4, { generation: 2, order: 0 }),
      step(5, { generation: 3, order: 0 }),
    ];
    expect(order(new Journal(steps, 5), [0, 1, 2, 3, 4, 5])).toEqual([2, 1, 3, 4, 0, 5]);
  });

  test('leaves out what became done after the claim', () => {
    const journal = new Journal([step(0), step(1, { generation: 6 })], 5);
    expect(journal.at(0, 'TASK', 't0')?.done).toBe(true);
    expect(journal.at(1, 'TASK', 't1')?.done).toBe(false);
    expect(journal.done).toBe(1);
    expect(journal.last).toBe(1);
  });
});

describe('a step of another kind or name', () => {
  test('is named with its position', () => {
    const journal = new Journal([step(0)], 1);
    expect(journal.at(1, 'NOW', 'now')).toBeUndefined();
    let error: unknown;
    try {
      journal.at(0, 'TIMER', 'sleep');
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(NonDeterminismError);
    expect(error).toMatchObject({
      position: 0,
      recorded: { kind: 'TASK', name: 't0' },
      found: { kind: 'TIMER', name: 'sleep' },
      retryable: false,
    });
  });

  test('an end with less calls than are recorded is one too', () => {
    const journal = new Journal([step(0), step(1)], 1);
    expect(() => journal.checkEnd(2)).not.toThrow();
    expect(() => journal.checkEnd(1)).toThrow(/At position 1 TASK "t1" is recorded, but this time the handler ended/);
  });
});
