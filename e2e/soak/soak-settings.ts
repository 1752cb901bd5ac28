/** What a worker of the soak is started with: JSON in argv[2]. */
export interface SoakWorkerSettings {
  readonly server: string;
  readonly token: string;
  readonly name: string;
  readonly capacity: number;
  /** The file to which its handlers append a {@link HandlerLine} for everything they do. */
  readonly journal: string;
}

/** One thing a handler did, written before it goes on: what the world outside would have seen. */
export interface HandlerLine {
  readonly did: 'start' | 'task' | 'end';
  readonly execution: string;
  readonly generation: number;
  readonly worker: string;
  /** Position of the step; tasks only. */
  readonly position?: number;
}

/** Input of every flow of the soak. */
export interface SoakInput {
  /** Tells executions apart; comes back in the output. */
  readonly number: number;
  /** How long each piece of work takes. */
  readonly ms: number;
}

/** The flows of the soak, and how many of 20 executions each gets. Children come on top. */
export const shares = { plain: 10, tasks: 5, paused: 2, parent: 2, napper: 1 } as const;
