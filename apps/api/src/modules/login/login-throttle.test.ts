import { describe, expect, it } from 'vitest';
import { GrowingDelays } from './growing-delays.ts';
import { LoginThrottle } from './login-throttle.ts';

function throttle(): {
  try(name: string | null, address: string): number;
  good(name: string, address: string): void;
  pass(ms: number): void;
} {
  let now = 0;
  const made = new LoginThrottle(() => now);
  return {
    /** Seconds to wait; 0: it was let through, and failed. */
    try(name, address) {
      try {
        made.attempt(name === null ? 'TOKEN' : 'PASSWORD', name, address);
        return 0;
      } catch (error) {
        return (error as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds;
      }
    },
    good: (name, address) => made.attempt('PASSWORD', name, address)(),
    pass: (ms) => void (now += ms),
  };
}

describe('the throttle of logins', () => {
  it('lets the wait of one name at one address grow, and forgets it after a login', () => {
    const logins = throttle();
    for (let n = 0; n < 5; n += 1) expect(logins.try('ada', '10.0.0.1')).toBe(0);
    const waits: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      const wait = logins.try('ADA', '10.0.0.1');
      waits.push(wait);
      logins.pass(wait * 1_000);
      expect(logins.try('ada', '10.0.0.1')).toBe(0);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    expect(logins.try('ada', '10.0.0.2')).toBe(0);
    logins.pass(300_000);
    logins.good('ada', '10.0.0.1');
    expect(logins.try('ada', '10.0.0.1')).toBe(0);
  });

  it('does not count what it refuses, so that a wait ends whatever comes meanwhile', () => {
    const logins = throttle();
    for (let n = 0; n < 5; n += 1) logins.try('ada', '10.0.0.1');
    for (let n = 0; n < 1_000; n += 1) expect(logins.try('ada', '10.0.0.1')).toBe(1);
    logins.pass(1_000);
    expect(logins.try('ada', '10.0.0.1')).toBe(0);
  });

  it('slows down an address that tries many names, and not those there who have a token', () => {
    const logins = throttle();
    for (let n = 0; n < 30; n += 1) expect(logins.try(`name-${n}`, '10.0.0.1')).toBe(0);
    expect(logins.try('another', '10.0.0.1')).toBe(1);
    expect(logins.try(null, '10.0.0.1')).toBe(0);
    expect(logins.try('another', '10.0.0.2')).toBe(0);
  });

  it('lets in whoever logged in from there before, however many strangers try his name', () => {
    const logins = throttle();
    logins.good('ada', '10.0.0.1');
    for (let n = 0; n < 200; n += 1) logins.try('ada', `10.1.0.${n}`);
    expect(logins.try('ada', '10.9.9.9')).toBeGreaterThan(0);
    expect(logins.try('ada', '10.0.0.1')).toBe(0);
    // For others it is a matter of seconds.
    logins.pass(10_000);
    expect(logins.try('ada', '10.9.9.9')).toBe(0);
  });

  it('is not got round by logging in as oneself between two guesses', () => {
    const logins = throttle();
    for (let n = 0; n < 30; n += 1) logins.try(`name-${n}`, '10.0.0.1');
    logins.pass(1_000);
    logins.good('mallory', '10.0.0.1');
    logins.try('name-30', '10.0.0.1');
    logins.good('mallory', '10.0.0.1');
    expect(logins.try('name-31', '10.0.0.1')).toBeGreaterThan(0);
  });

  it('keeps so many keys and no more', () => {
    const delays = new GrowingDelays({ free: 1, maxMs: 1_000, forgetMs: 1_000, maxKeys: 10, now: () => 0 });
    for (let n = 0; n < 100; n += 1) delays.note(`key-${n}`);
    expect(delays.keys).toBe(10);
    expect([delays.wait('key-0'), delays.wait('key-99')]).toEqual([0, 1_000]);
  });
});
