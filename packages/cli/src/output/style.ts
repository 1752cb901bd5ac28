import { createColors } from 'picocolors';

/** Colours for results, or none of them, and how many columns there are; Infinity where nobody looks at a terminal. */
export type Style = ReturnType<typeof createColors> & { readonly columns: number };

export function styleFor(colour: boolean, columns = Number.POSITIVE_INFINITY): Style {
  return { ...createColors(colour), columns };
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
