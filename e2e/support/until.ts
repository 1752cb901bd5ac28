import { setTimeout as delay } from 'node:timers/promises';

/**
 * Asks again and again until the answer is neither null, undefined nor false, and returns it.
 * Fails after `seconds` with the last error, or with what was waited for.
 */
export async function until<T>(
  what: string | (() => string),
  ask: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  seconds = 30,
): Promise<T> {
  const end = performance.now() + seconds * 1000;
  let lastError: unknown;
  do {
    try {
      const answer = await ask();
      if (answer !== null && answer !== undefined && answer !== false) return answer;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    await delay(50);
  } while (performance.now() < end);
  throw new Error(`waited ${seconds} s in vain: ${typeof what === 'string' ? what : what()}`, { cause: lastError });
}
