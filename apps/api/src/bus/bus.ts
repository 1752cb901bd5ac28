/**
 * The bus: what replicas tell each other. Messages are hints, the tables are the truth: a message may be lost, repeated or
 * late, and a slow tick heals whatever was missed. Nothing on it is a secret, and routing input never is.
 */
export interface BusMessages {
  /** An execution changed; read it again where its revision is older. */
  execution: { id: string; revision: number };
  /** A worker's registration, availability, metadata or connection changed. */
  worker: { name: string };
  /** `worker.heartbeat` in its wire form, of registered workers and of foreign processes alike. */
  heartbeat: WorkerHeartbeat;
  decision: { id: string; executionId: string };
  deployment: { id: number; revision: number };
  workflow: { id: number };
  /** Something may have become placeable; with `ids`, just these executions (at most 100), which have become queued. */
  wake: { reason: string; ids?: readonly string[] };
  /** To the replica that holds the worker's connection: these executions are SCHEDULED to it. */
  assigned: { worker: string; items: readonly AssignedItem[] };
  cancel: { worker: string; items: readonly { id: string; generation: number }[] };
  /** Stop: a newer process has registered under this name. */
  replaced: { worker: string; instanceId: string };
  /** Which executions are live on which worker; `workerId` null: on none any more. */
  live: { items: readonly LiveItem[] };
  /** Who may enter, or may do what, has changed for these; with none of them, for all. Committed before it is told. */
  access: AccessChange;
  /** Messages were lost: read everything again. */
  resync: Record<string, never>;
}

export interface AccessChange {
  principalId?: number;
  /** Name of a role. */
  role?: string;
  tokenId?: number;
  sessionId?: string;
  workerCredentialId?: number;
  /** Raw id of an execution whose token has ended. */
  executionId?: string;
}

export interface AssignedItem {
  id: string;
  generation: number;
  workflow: string;
}

export interface LiveItem {
  id: string;
  workerId: number | null;
  generation: number;
}

/** The heartbeat of the reference, as every service may publish it. */
export interface WorkerHeartbeat {
  instance_id: string;
  hostname: string;
  role: string;
  version: string;
  started_at: string;
  healthy: boolean;
  checks: readonly { name: string; healthy: boolean; message?: string }[];
  /** Set by Muster for registered workers. */
  name?: string;
  metrics?: Readonly<Record<string, number>>;
  /** When these metrics arrived; absent: with this heartbeat. */
  metrics_at?: number;
  draining?: boolean;
  /** Server time of arrival, ms since the epoch by the database's clock. */
  seen_at?: number;
}

export type BusTopic = keyof BusMessages;
export type BusHandler<K extends BusTopic> = (message: BusMessages[K]) => void;

export interface Bus {
  /** Never throws and never waits; order is kept per publisher. */
  publish<K extends BusTopic>(topic: K, message: BusMessages[K]): void;
  /** Returns the function that ends the subscription. */
  subscribe<K extends BusTopic>(topic: K, handler: BusHandler<K>): () => void;
  close(): Promise<void>;
}
