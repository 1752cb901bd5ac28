/** One system under measurement, on a database of its own. Jobs carry `{ n }` and do nothing: what is measured is the system. */
export interface Contestant {
  readonly name: string;
  /** What it does to be fast, in a few words. */
  readonly how: string;
  /** Many jobs in one call. */
  readonly submitMany: (payloads: readonly Payload[]) => Promise<void>;
  readonly submitOne: (payload: Payload) => Promise<void>;
  /** Works until `count` jobs are done, and answers when their end is in the database. */
  readonly drain: (count: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface Payload {
  readonly n: number;
}
