import type { Services } from '../services.ts';
import type { Log } from '../log.ts';
import type { Viewer } from '../modules/viewer/viewer.ts';
import type { Loaders } from './loaders.ts';

/** Made for every operation. */
export interface Context {
  /** Who asks, with what it may do now. Errors: UNAUTHENTICATED for nobody, and where the credential has ended meanwhile. */
  readonly viewer: Viewer;
  /** Where the request came from; null: not known. */
  readonly address: string | null;
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
  /** Calls `listener` once when the credential of the viewer has ended. Answers the end of it. */
  onEnd(listener: () => void): () => void;
}

/** What a transport knows of an operation. */
export interface Caller {
  /** null: nobody has said who he is. */
  readonly viewer: Viewer | null;
  readonly address: string | null;
  readonly requestId: string;
  /** Bytes that the connection has not sent yet. */
  readonly unsentBytes: () => number;
}

export type CreateContext = (caller: Caller) => Context;
