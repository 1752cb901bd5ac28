import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../run-host.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { EventThrottle } from './event-throttle.ts';

function throttle(answer: () => Promise<void> = () => Promise.resolve()) {
  const clock = new FakeClock();
  const sent: RunEvent[] = [];
  const events = new EventThrottle({
    clock,
    send: (event) => {
      sent.push(event);
      return answer();
    },
  });
  const log = (count: number): void => {
    for (let n = 0; n < count; n += 1) events.add({ type: 'log', data: { message: String(n) } });
  };
  const progress = (fraction: number): void => events.add({ type: 'progress', data: { fraction } });
  return { clock, sent, events, log, progress };
}

describe('at most 50 a second', () => {
  test('what is too much is dropped, and counted in a log event as soon as one may be sent', () => {
    const { clock, sent, log } = throttle();
    log(80);
    expect(sent).toHaveLength(50);
    clock.advance(1_000);
    expect(sent.slice(50)).toEqual([
      { type: 'log', data: { message: '30 events were dropped: an execution may send 50 a second.', dropped: 30 } },
    ]);
    clock.advance(10_000);
    expect(sent).toHaveLength(51);
  });

  test('in any second, not only in those that begin with the first event', () => {
    const { clock, sent, log } = throttle();
    log(25);
    clock.advance(900);
    log(25);
    clock.advance(200);
    log(50);
    expect(sent.filter((event) => event.type === 'log')).toHaveLength(75);
  });

  test('of progress the newest is sent, a little later', () => {
    const { clock, sent, progress } = throttle();
    for (let n = 1; n <= 200; n += 1) progress(n / 200);
    expect(sent).toHaveLength(50);
    clock.advance(1_000);
    expect(sent.slice(50)).toEqual([{ type: 'progress', data: { fraction: 1 } }]);
  });

  test('a flush sends what was held back at once', async () => {
    const { sent, events, log, progress, clock } = throttle();
    log(51);
    progress(0.7);
    await events.flush();
    expect(sent.slice(50).map((event) => event.type)).toEqual(['log', 'progress']);
    expect(clock.pending).toBe(0);
  });

  test('a clock that is set back stops nothing', () => {
    const { clock, sent, log } = throttle();
    log(50);
    clock.advance(-60_000);
    log(1);
    expect(sent).toHaveLength(51);
  });
});

test('while the server does not answer, 1,000 events wait and the rest is counted', async () => {
  const answers: (() => void)[] = [];
  const { clock, sent, events, log } = throttle(() => new Promise((resolve) => answers.push(resolve)));
  for (let second = 0; second < 30; second += 1) {
    log(50);
    clock.advance(1_001);
  }
  expect(sent).toHaveLength(1_000);
  for (const answer of answers.splice(0)) answer();
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1_001);
  expect(sent.at(-1)).toMatchObject({ data: { dropped: 500 } });
  const flushed = events.flush();
  for (const answer of answers.splice(0)) answer();
  await flushed;
});
