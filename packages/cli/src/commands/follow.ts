import { ClientError, ExecutionEventsDocument, ExecutionStateDocument, LiveLink } from '@muster/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { ExecutionEvent } from '../output/event-text.ts';
import type { CommandContext } from './context.ts';

/** Milliseconds without the server after which nobody waits for it any longer. */
const patienceMs = 120_000;
/** Milliseconds between two tries where the connection stands and the server has no answer yet. */
const betweenTriesMs = 500;
const endStates: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED']);

/** Whether an execution in this state has come to its end. */
export function hasEnded(state: string): boolean {
  return endStates.has(state);
}

/**
 * Hands over the events of an execution after a sequence, each once and in order, until it has ended, and answers its end
 * state. A connection that breaks is made again, and the events go on where they stopped. Throws NOT_FOUND, what the server
 * refuses, and exit code 5 where the server stays away for 2 minutes.
 */
export async function followEvents(
  context: CommandContext,
  id: string,
  after: number,
  onEvent: (event: ExecutionEvent) => void,
  patience = patienceMs,
): Promise<string> {
  const { io, connection, client } = context;
  let away: ReturnType<typeof setTimeout> | undefined;
  let gaveUp = false;
  const link = new LiveLink({
    ...connection,
    openSocket: (url, protocol, headers) => new WebSocket(url, protocol, { headers, perMessageDeflate: false }),
    longestRetryMs: () => 5_000,
    onStatus: (status) => {
      if (status.state === 'connected') {
        clearTimeout(away);
        away = undefined;
      } else if (status.state === 'disconnected' && away === undefined) {
        io.err(`The connection to the server broke (${status.reason}); trying again …`);
        away = setTimeout(() => {
          gaveUp = true;
          link.close();
        }, patience);
      }
    },
  });
  let last = after;
  try {
    for (;;) {
      try {
        const events = link.iterate(ExecutionEventsDocument, { id, afterSequence: last }, { resume: false });
        for await (const { executionEvents: event } of events) {
          if (event.sequence <= last) continue;
          last = event.sequence;
          onEvent(event);
        }
        // A server that stops may end the stream before the execution has ended.
        const { execution } = await client.request(ExecutionStateDocument, { id });
        if (execution === null) throw new CommandError(`There is no execution ${id}.`, exitCodes.notFound);
        if (hasEnded(execution.state)) return execution.state;
      } catch (error) {
        if (!(error instanceof ClientError) || error.code !== 'UNAVAILABLE') throw error;
        if (gaveUp) {
          const seconds = Math.round(patience / 1_000);
          throw new CommandError(
            `The server has been away for ${seconds} s. The execution goes on without this command: muster execution events ${id} --follow --after ${last}`,
            exitCodes.unavailable,
          );
        }
      }
      await sleep(betweenTriesMs);
    }
  } finally {
    clearTimeout(away);
    link.close();
  }
}
