/** Injected where time matters, so that tests can hold it. */
export interface Clock {
  /** Wall clock, ms since 1970. */
  now(): number;
  /** Never goes back; ms since some start. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
