import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Makes UUIDs of version 7. Within one process each is greater than the one before, also within a millisecond and where the clock steps back;
 * an id for a given instant (`at`, ms) only takes part in that order when it is the newest.
 */
export function uuidV7Source(now: () => number): (at?: number) => string {
  const random = Buffer.alloc(POOL_BYTES);
  let used = POOL_BYTES;
  let lastMs = 0;
  let counter = 0;

  const take = (bytes: number): number => {
    if (used + bytes > POOL_BYTES) {
      randomFillSync(random);
      used = 0;
    }
    used += bytes;
    return used - bytes;
  };
  const freshCounter = (): number => random.readUInt16BE(take(2)) & 0x7ff;

  return (at) => {
    let ms = Math.floor(at ?? now());
    let sub: number;
    if (at !== undefined && ms < lastMs) sub = freshCounter();
    else if (ms > lastMs) {
      lastMs = ms;
      counter = freshCounter();
      sub = counter;
    } else {
      counter += 1;
      if (counter > 0xfff) {
        lastMs += 1;
        counter = 0;
      }
      ms = lastMs;
      sub = counter;
    }
    const time = ms.toString(16).padStart(12, '0');
    const tail = take(8);
    const variant = HEX[((random[tail] ?? 0) & 0x3f) | 0x80];
    const rest = Array.from({ length: 7 }, (_, i) => HEX[random[tail + 1 + i] ?? 0]);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${sub.toString(16).padStart(3, '0')}-${variant}${rest[0]}-${rest.slice(1).join('')}`;
  };
}
