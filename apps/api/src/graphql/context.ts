import type { Services } from '../services.ts';
import type { Log } from '../log.ts';
import type { Viewer } from '../modules/viewer/viewer.ts';
import type { Loaders } from './loaders.ts';

/** Made for every operation. */
export interface Context {
  readonly viewer: Viewer;
  readonly requestId: string;
  readonly log: Log;
  readonly services: Services;
  loaders: Loaders;
  /** Bytes that the connection of this operation has not sent yet. */
  readonly unsentBytes: () => number;
  /** Nodes asked for so far by the connections of this answer. */
  nodes: number;
  /** Before every event of a subscription: nothing read for the last one is good for the next. */
  renew(): void;
}
