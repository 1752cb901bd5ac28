import { describe, expect, it } from 'vitest';
import {
  bytes,
  countAtLeast,
  decisionTime,
  duration,
  metricText,
  metricValue,
  percent,
  plural,
  score,
  shortId,
} from './format.ts';

describe('durations', () => {
  it.each([
    [0, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [3_200, '3.2 s'],
    [9_960, '9 s'],
    [59_999, '59 s'],
    [372_000, '6 m 12 s'],
    [7_500_000, '2 h 5 m'],
    [273_600_000, '3 d 4 h'],
  ])('%d ms is %s', (ms, text) => expect(duration(ms)).toBe(text));

  it.each([
    [639.6, '640 µs'],
    [999.6, '1.0 ms'],
    [940, '940 µs'],
    [1_500, '1.5 ms'],
  ])('a decision of %d µs took %s', (us, text) => expect(decisionTime(us)).toBe(text));
});

describe('numbers', () => {
  it.each([
    [12, '12'],
    [61.5, '61.5'],
    [0.0001, '0.0001'],
    [0.123456, '0.1235'],
    [123.456, '123.5'],
    [123_456.7, '123,457'],
  ])('a metric of %d reads %s', (value, text) => expect(metricValue(value)).toBe(text));

  it('carry the unit that a metric is named after', () => {
    expect(metricText('heap_bytes', 1_536)).toBe('1.5 KiB');
    expect(metricText('lag_seconds', 0.0421)).toBe('42.1 ms');
    expect(metricText('flux.cpu_percent', 22.9)).toBe('22.9 %');
    expect(bytes(17_179_869_184)).toBe('16 GiB');
  });

  it('never show a minus before nothing, nor a share as more exact than it is', () => {
    expect([score(-0.001), score(-1), score(14.824)]).toEqual(['0.00', '−1.00', '14.82']);
    expect([percent(0), percent(1), percent(0.0914)]).toEqual(['0 %', '100 %', '9.1 %']);
  });

  it('say how many of what, and when it may be more', () => {
    expect([plural(1, 'execution'), plural(1_204, 'execution'), countAtLeast(10_000, false)]).toEqual([
      '1 execution',
      '1,204 executions',
      '10,000+',
    ]);
  });
});

it('a shortened id still tells rows apart', () => {
  expect(shortId('ex_01a22ac7b04f74c595fd552c53d29d61')).toBe('ex_01a22ac7…d29d61');
  expect(shortId('wk_7')).toBe('wk_7');
});
