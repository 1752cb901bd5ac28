import { expect, test } from 'vitest';
import type { ExecutionStep } from './execution-queries.ts';
import { stepLine, stepLook, stepName } from './step-words.ts';

const step = (parts: Partial<ExecutionStep>): ExecutionStep => ({
  position: 0,
  kind: 'TASK',
  name: 'draft',
  done: true,
  result: null,
  error: null,
  at: '2026-01-01T10:00:00.000Z',
  wakeAt: null,
  child: null,
  ...parts,
});
const declined = { type: 'Declined', message: 'no money', stack: null, retryable: false };
const open = (kind: ExecutionStep['kind'], wakeAt: string | null = null) => step({ kind, done: false, wakeAt });

test('a name that only repeats the kind is left out', () => {
  expect(stepName({ kind: 'TASK', name: 'now' })).toBe('now');
  expect(stepName({ kind: 'CALL', name: 'billing/charge' })).toBe('billing/charge');
  expect(stepName({ kind: 'NOW', name: 'now' })).toBeNull();
  expect(stepName({ kind: 'RANDOM', name: 'random' })).toBeNull();
  expect(stepName({ kind: 'TIMER', name: 'sleep' })).toBeNull();
  expect(stepName({ kind: 'TIMER', name: 'until Monday' })).toBe('until Monday');
});

test('a step is done or failed, or says what it waits for', () => {
  const word = (each: ExecutionStep) => stepLook(each, 'PAUSED').word;
  expect(word(step({}))).toBe('Done');
  expect(stepLook(step({ error: declined }), 'RUNNING')).toMatchObject({ word: 'Failed', tone: 'bad' });
  expect(word(open('TIMER', '2026-01-01T11:00:00.000Z'))).toBe('Waits until');
  expect(word(open('RESUME'))).toBe('Waits for resume');
  expect(word(open('CALL'))).toBe('Waits for child');
  // No time is known of it, so none is named.
  expect(word(open('TIMER'))).toBe('Under way');
  expect(word(open('TASK'))).toBe('Under way');
});

test('an execution that has ended waits for nothing', () => {
  for (const state of ['COMPLETED', 'FAILED', 'CANCELLED'] as const) {
    expect(stepLook(open('RESUME'), state).word).toBe('Left open');
    expect(stepLook(open('TIMER', '2026-01-01T11:00:00.000Z'), state).word).toBe('Left open');
    expect(stepLook(step({}), state).word).toBe('Done');
  }
});

test('what a step came to is one line of JSON, or its error', () => {
  expect(stepLine(step({ result: { pages: 3, of: ['a b'] } }))).toEqual({
    text: '{"pages":3,"of":["a b"]}',
    cut: false,
  });
  expect(stepLine(step({ result: 0 }))).toEqual({ text: '0', cut: false });
  expect(stepLine(step({}))).toEqual({ text: 'null', cut: false });
  expect(stepLine(step({ error: declined }))).toEqual({ text: 'Declined: no money', cut: false });
  expect(stepLine(step({ error: { ...declined, message: '' } }))).toEqual({ text: 'Declined', cut: false });
  expect(stepLine(step({ kind: 'TIMER', name: 'sleep' }))).toBeNull();
  expect(stepLine(open('RESUME'))).toBeNull();
});

test('a long line is cut between characters and says so; so does an error with more than a line', () => {
  expect(stepLine(step({ result: 'x'.repeat(78) }))).toEqual({ text: `"${'x'.repeat(78)}"`, cut: false });
  expect(stepLine(step({ result: 'x'.repeat(79) }))).toEqual({ text: `"${'x'.repeat(78)}…`, cut: true });
  expect(stepLine(step({ result: `${'x'.repeat(77)}😀😀` }))).toEqual({ text: `"${'x'.repeat(77)}…`, cut: true });
  expect(stepLine(step({ error: { ...declined, message: 'no\n  money' } }))).toEqual({
    text: 'Declined: no money',
    cut: true,
  });
  expect(stepLine(step({ error: { ...declined, stack: 'Declined: no money\n    at pay.ts:1' } }))?.cut).toBe(true);
});
