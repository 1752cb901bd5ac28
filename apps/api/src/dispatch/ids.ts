/** Inside the server an id is 32 hex digits, as the API shows it after its prefix; the database writes UUIDs with dashes. */
export function rawId(uuid: string): string {
  return uuid.length === 36 ? uuid.replaceAll('-', '') : uuid;
}

/** Makes UUID v7 whose time is the database's, rising within this process. */
export class UuidSource {
  readonly #now: () => number;
  readonly #random: (bytes: number) => Uint8Array;
  #lastMs = 0;
  #counter = 0;

  /** `now`: ms by the database's clock; `random`: that many random bytes. */
  constructor(now: () => number, random: (bytes: number) => Uint8Array) {
    this.#now = now;
    this.#random = random;
  }

  /** Raw: 32 hex digits. */
  next(): string {
    const now = Math.floor(this.#now());
    if (now > this.#lastMs) {
      this.#lastMs = now;
      // 12 bits of counter with the upper one clear at the start, so that a millisecond holds at least 2,048.
      this.#counter = ((this.#random(1)[0] ?? 0) << 3) & 0x7ff;
    } else if (++this.#counter > 0xfff) {
      this.#lastMs += 1;
      this.#counter = 0;
    }
    const tail = this.#random(8);
    tail[0] = ((tail[0] ?? 0) & 0x3f) | 0x80;
    return (
      this.#lastMs.toString(16).padStart(12, '0') +
      (0x7000 | this.#counter).toString(16) +
      Array.from(tail, (byte) => byte.toString(16).padStart(2, '0')).join('')
    );
  }
}

/** Milliseconds since the epoch at which a raw UUID v7 was made. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 12), 16);
}
