import { describe, expect, test } from 'vitest';
import { RetryableError } from './execution-context.ts';
import { describeError } from './handler-error.ts';
import { maxOutputBytes, outcomeOf, settleValue } from './outcome.ts';

const returned = settleValue;
const threw = (error: unknown) => ({ kind: 'threw' as const, error: describeError(error) });

describe('a handler that returns', () => {
  test('completes with its value, and with null where it has none', () => {
    expect(outcomeOf(returned({ a: 1 }), undefined, null)).toEqual({
      kind: 'end',
      end: { state: 'COMPLETED', output: { a: 1 } },
    });
    expect(outcomeOf(returned(undefined), undefined, null)).toEqual({
      kind: 'end',
      end: { state: 'COMPLETED', output: null },
    });
  });

  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  test.each([
    ['a circle', circle, 'The output is not JSON'],
    ['a BigInt', 1n, 'The output is not JSON'],
    ['a function', () => 1, 'a function cannot be sent'],
    ['more than 1 MiB', 'x'.repeat(maxOutputBytes), 'at most 1048576 (1 MiB)'],
    ['more than 1 MiB as UTF-8 only', 'é'.repeat(maxOutputBytes / 2), 'at most 1048576 (1 MiB)'],
  ])('%s fails it with a clear message', (_, value, message) => {
    expect(outcomeOf(returned(value), undefined, null)).toMatchObject({
      kind: 'end',
      end: {
        state: 'FAILED',
        error: { type: 'OutputError', message: expect.stringContaining(message), retryable: false },
      },
    });
  });

  test('exactly 1 MiB is taken', () => {
    expect(outcomeOf(returned('x'.repeat(maxOutputBytes - 2)), undefined, null)).toMatchObject({
      end: { state: 'COMPLETED' },
    });
  });

  test('counts although it was cancelled, lost or stopped meanwhile, but not after its timeout', () => {
    for (const cause of ['cancelled', 'lost', 'silence', 'stopping'] as const) {
      expect(outcomeOf(returned(1), cause, null)).toMatchObject({ end: { state: 'COMPLETED', output: 1 } });
    }
    expect(outcomeOf(returned(1), 'timed out', 30)).toMatchObject({
      end: { state: 'FAILED', error: { type: 'TimeoutError', message: 'The handler did not finish within 30 s.' } },
    });
  });
});

describe('a handler that throws', () => {
  test('fails with type, message and stack', () => {
    const error = new RangeError('too far');
    expect(outcomeOf(threw(error), undefined, null)).toEqual({
      kind: 'end',
      end: { state: 'FAILED', error: { type: 'RangeError', message: 'too far', stack: error.stack, retryable: false } },
    });
  });

  test('may be tried again where it says so', () => {
    expect(outcomeOf(threw(new RetryableError('later')), undefined, null)).toMatchObject({
      end: { error: { type: 'RetryableError', retryable: true } },
    });
  });

  test('anything can be thrown, and texts are bounded', () => {
    expect(outcomeOf(threw('plain'), undefined, null)).toMatchObject({
      end: { error: { type: 'Error', message: 'plain' } },
    });
    expect(outcomeOf(threw(undefined), undefined, null)).toMatchObject({ end: { error: { message: 'undefined' } } });
    const long = outcomeOf(threw(new Error('y'.repeat(10_000))), undefined, null);
    expect(long.kind === 'end' && long.end.error?.message.length).toBe(4_000);
  });

  test('after an abort ends as the cause says', () => {
    const error = new Error('aborted');
    expect(outcomeOf(threw(error), 'cancelled', null)).toEqual({ kind: 'end', end: { state: 'CANCELLED' } });
    expect(outcomeOf(threw(error), 'silence', null)).toEqual({ kind: 'release', reason: 'no acknowledged heartbeat' });
    expect(outcomeOf(threw(error), 'stopping', null)).toEqual({ kind: 'release', reason: 'worker stopping' });
    expect(outcomeOf(threw(error), 'replaced', null)).toEqual({ kind: 'nothing' });
    expect(outcomeOf(threw(error), 'lost', null)).toMatchObject({
      end: { state: 'FAILED', error: { message: 'aborted' } },
    });
  });
});
