import { createColors } from 'picocolors';

/** Colours for results, or none of them. */
export type Style = ReturnType<typeof createColors>;

export function styleFor(colour: boolean): Style {
  return createColors(colour);
}

const colours: Readonly<Record<string, 'green' | 'yellow' | 'red' | 'cyan' | 'dim'>> = {
  HEALTHY: 'green',
  COMPLETED: 'green',
  ASSIGNED: 'green',
  OK: 'green',
  UNHEALTHY: 'yellow',
  STALE: 'yellow',
  PARKED: 'yellow',
  DEGRADED: 'yellow',
  CORDONED: 'yellow',
  DRAINING: 'yellow',
  CANCELLING: 'yellow',
  PAUSED: 'yellow',
  FAILED: 'red',
  OFFLINE: 'red',
  UNAVAILABLE: 'red',
  CANCELLED: 'dim',
  PENDING: 'cyan',
  SCHEDULED: 'cyan',
  CLAIMED: 'cyan',
  RUNNING: 'cyan',
  RESUMING: 'cyan',
};

/** A state word in the colour of what it means; unknown words stay as they are. */
export function paintState(word: string, style: Style): string {
  const colour = Object.hasOwn(colours, word) ? colours[word] : undefined;
  return colour === undefined ? word : style[colour](word);
}
