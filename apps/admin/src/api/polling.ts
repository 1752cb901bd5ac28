import type { ConnectionStatus } from './connection.ts';
import { useLiveView } from './live.ts';

/** How often data is read while no change can arrive over the socket. */
export const POLL_MS = 10_000;

/** The refetch interval of a query that a subscription keeps fresh: only a STALE connection needs one. */
export function pollWhenStale(status: ConnectionStatus): number | false {
  return status === 'STALE' ? POLL_MS : false;
}

export function usePollWhenStale(): number | false {
  return pollWhenStale(useLiveView().status);
}
