/** One system under measurement, on a database of its own. Jobs carry `{ n }` and do nothing: what is measured is the system. */
export interface Contestant {
  readonly name: string;
  /** What it does to be fast, in a few words. */
  readonly how: string;
  /** Many jobs in one call. */
  readonly submitMany: (payloads: readonly Payload[]) => Promise<void>;
  readonly submitOne: (payload: Payload) => Promise<void>;
  /** Works until `count` waiting jobs are done and their end is in the database. @returns milliseconds since work could begin */
  readonly drain: (count: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

export interface Payload {
  readonly n: number;
}
