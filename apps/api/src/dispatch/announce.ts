import type { Bus } from '../bus/bus.ts';
import type { Woken } from './statements/wake.ts';

/** So many ids fit a message of the bus. */
const IDS_PER_MESSAGE = 100;

/** Tells the leader, wherever it is, which executions have become queued: it reads these instead of looking through the queue. */
export function publishQueued(bus: Bus, reason: string, ids: readonly string[]): void {
  for (let i = 0; i < ids.length; i += IDS_PER_MESSAGE) {
    bus.publish('wake', { reason, ids: ids.slice(i, i + IDS_PER_MESSAGE) });
  }
}

/** Tells everybody that these executions go on after a pause. */
export function announceWoken(bus: Bus, woken: readonly Woken[]): void {
  for (const { id, revision } of woken) bus.publish('execution', { id, revision });
  publishQueued(
    bus,
    'resumed',
    woken.map(({ id }) => id),
  );
}
