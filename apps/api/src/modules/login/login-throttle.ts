import { MusterError } from '@muster/core';
import type { LoginMethod } from '../access/session-writes.ts';
import { GrowingDelays } from './growing-delays.ts';

const MAX_KEYS = 20_000;
const FORGET_MS = 15 * 60_000;
const MAX_NAME = 128;

/**
 * Slows down who tries passwords and tokens. One name from one address waits soonest and longest; one address with many names, and one name
 * from many addresses, later and for less. Whoever has logged in under a name from an address before is held up there by his own attempts
 * alone, so that strangers cannot keep him out. In memory, for each replica by itself.
 */
export class LoginThrottle {
  readonly #pairs: GrowingDelays;
  readonly #addresses: GrowingDelays;
  readonly #names: GrowingDelays;
  readonly #familiar = new Set<string>();

  /** `now`: ms that only rise. */
  constructor(now: () => number) {
    const delays = (free: number, maxMs: number): GrowingDelays =>
      new GrowingDelays({ free, maxMs, forgetMs: FORGET_MS, maxKeys: MAX_KEYS, now });
    this.#pairs = delays(5, 5 * 60_000);
    this.#addresses = delays(30, 60_000);
    this.#names = delays(50, 10_000);
  }

  /**
   * Counts an attempt; call what it answers when it was good. `name`: null where something else than a name says who it is. `address`: as limits
   * count it. Errors: RATE_LIMITED with `details.retryAfterSeconds`; what is refused does not count.
   */
  attempt(method: LoginMethod, name: string | null, address: string): () => void {
    const who = name === null ? null : name.slice(0, MAX_NAME).toLowerCase();
    const pair = who === null ? null : JSON.stringify([who, address]);
    const counted: [GrowingDelays, string][] = pair === null ? [] : [[this.#pairs, pair]];
    if (pair === null || !this.#familiar.has(pair)) {
      // A guesser of passwords does not hold up those who have a token.
      counted.push([this.#addresses, JSON.stringify([method, address])]);
      if (who !== null) counted.push([this.#names, who]);
    }
    const waitMs = Math.max(...counted.map(([delays, key]) => delays.wait(key)));
    if (waitMs > 0) throw tooMany(Math.ceil(waitMs / 1_000));
    const undo = counted.map(([delays, key]) => delays.note(key));
    return () => {
      for (const take of undo) take();
      if (pair === null) return;
      this.#pairs.forget(pair);
      this.#familiar.delete(pair);
      this.#familiar.add(pair);
      if (this.#familiar.size > MAX_KEYS) this.#familiar.delete(this.#familiar.keys().next().value as string);
    };
  }
}

function tooMany(seconds: number): MusterError {
  return new MusterError('RATE_LIMITED', `Too many attempts to log in; try again in ${seconds} s.`, {
    details: { retryAfterSeconds: seconds },
  });
}
