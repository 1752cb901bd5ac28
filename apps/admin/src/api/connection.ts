/** What the badge in the top bar shows. CONNECTING: the first connection of this page is not there yet. */
export type ConnectionStatus = 'CONNECTING' | 'LIVE' | 'RECONNECTING' | 'STALE' | 'PAUSED';

/** Loss shorter than this is not worth a word. */
export const RECONNECTING_AFTER_MS = 2_000;
/** After this long the data counts as old and is read by polling. */
export const STALE_AFTER_MS = 30_000;

export interface ConnectionState {
  open: boolean;
  everOpen: boolean;
  /** When the socket was lost, or when the page began to connect; epoch milliseconds. */
  downSince: number;
  paused: boolean;
}

export type ConnectionInput =
  | { type: 'opened' }
  | { type: 'closed'; at: number }
  | { type: 'paused' }
  | { type: 'resumed' };

export function initialConnection(at: number): ConnectionState {
  return { open: false, everOpen: false, downSince: at, paused: false };
}

/** One step of the connection state machine. Pure; time comes with the input. */
export function nextConnection(state: ConnectionState, input: ConnectionInput): ConnectionState {
  switch (input.type) {
    case 'opened':
      return { ...state, open: true, everOpen: true };
    case 'closed':
      return state.open ? { ...state, open: false, downSince: input.at } : state;
    case 'paused':
      return { ...state, paused: true };
    case 'resumed':
      return { ...state, paused: false };
  }
}

/** What the state means at a moment: a loss wins over PAUSED once it is STALE, because frozen rows then age unseen. */
export function connectionStatus(state: ConnectionState, now: number): ConnectionStatus {
  const down = state.open ? 0 : now - state.downSince;
  if (down >= STALE_AFTER_MS) return 'STALE';
  if (state.paused) return 'PAUSED';
  if (state.open || (state.everOpen && down < RECONNECTING_AFTER_MS)) return 'LIVE';
  return state.everOpen || down >= RECONNECTING_AFTER_MS ? 'RECONNECTING' : 'CONNECTING';
}
