import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canBecome,
  EXECUTION_STATES,
  type ExecutionState,
  isLive,
  isQueued,
  isTerminal,
  stateAfterCancelRequest,
  statesBefore,
  TERMINAL_STATES,
} from './states.ts';

const legal = (from: ExecutionState, to: ExecutionState | null): boolean => to === null || canBecome(from, to);

describe('execution states', () => {
  it('walks the whole way of an execution', () => {
    const way = [
      'PENDING',
      'SCHEDULED',
      'CLAIMED',
      'RUNNING',
      'PAUSED',
      'RESUMING',
      'SCHEDULED',
      'RUNNING',
      'COMPLETED',
    ] as const;
    for (let i = 1; i < way.length; i += 1) expect(canBecome(way[i - 1]!, way[i]!)).toBe(true);
  });

  it('has exactly three ends, and nothing leaves them', () => {
    expect(EXECUTION_STATES.filter(isTerminal)).toEqual([...TERMINAL_STATES]);
    for (const from of TERMINAL_STATES) for (const to of EXECUTION_STATES) expect(canBecome(from, to)).toBe(false);
  });

  it('lets a CANCELLING execution only end', () => {
    expect(EXECUTION_STATES.filter((to) => canBecome('CANCELLING', to))).toEqual(['COMPLETED', 'FAILED', 'CANCELLED']);
  });

  it('takes up only SCHEDULED executions', () => {
    expect(statesBefore('CLAIMED')).toEqual(['SCHEDULED']);
    expect(statesBefore('RUNNING')).toEqual(['SCHEDULED', 'CLAIMED']);
    expect(statesBefore('SCHEDULED')).toEqual(['PENDING', 'RESUMING']);
  });

  it('cancels what a worker has begun in two steps, all else at once, and an end never', () => {
    const asked = EXECUTION_STATES.map((state) => [state, stateAfterCancelRequest(state)]);
    expect(Object.fromEntries(asked)).toEqual({
      PENDING: 'CANCELLED',
      RESUMING: 'CANCELLED',
      SCHEDULED: 'CANCELLED',
      CLAIMED: 'CANCELLING',
      RUNNING: 'CANCELLING',
      PAUSED: 'CANCELLED',
      CANCELLING: null,
      COMPLETED: null,
      FAILED: null,
      CANCELLED: null,
    });
    expect(EXECUTION_STATES.every((from) => legal(from, stateAfterCancelRequest(from)))).toBe(true);
  });

  it('ends or can still end, wherever it has got to', () => {
    const reachesAnEnd = (start: (typeof EXECUTION_STATES)[number]): boolean => {
      const seen = new Set([start]);
      for (const state of seen) for (const to of EXECUTION_STATES) if (canBecome(state, to)) seen.add(to);
      return [...seen].some(isTerminal);
    };
    fc.assert(fc.property(fc.constantFrom(...EXECUTION_STATES), (state) => reachesAnEnd(state)));
  });

  it('is never both waiting for a worker and on one', () => {
    for (const state of EXECUTION_STATES)
      expect([isLive(state), isQueued(state), isTerminal(state)].filter(Boolean).length).toBe(
        state === 'PAUSED' ? 0 : 1,
      );
  });
});
