import { isTerminal, TERMINAL_STATES } from '@muster/core';
import { encodeId } from '../../graphql/ids.ts';
import { executionEventStream } from '../../live/plain-streams.ts';
import type { EventRow } from '../../modules/execution/execution-rows.ts';
import { beginEventStream, eventFrame, sendEvents } from '../event-stream.ts';
import { eventJson, executionJson, noExecution } from './execution-json.ts';
import type { RestCall } from './route.ts';

const TERMINAL: ReadonlySet<string> = new Set(TERMINAL_STATES);

/**
 * Sends the history after a sequence and then what happens, each event with its sequence as id, until it has ended. The terminal event
 * brings the execution along. `own`: this request has started it.
 */
export async function sendExecutionEvents(call: RestCall, id: string, after: number, own = false): Promise<void> {
  const { request, response, context, streams, keepAliveMs } = call;
  beginEventStream(response, { location: `/executions/${encodeId('ex', id)}` });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  await sendEvents(response, executionEventStream(context.services, id, after, context, own), {
    format: (event) => formatEvent(event, call, own),
    open: streams,
    keepAliveMs,
  });
}

/** Whether the execution has ended and nothing came after that sequence: nothing is to be streamed, now or later. Errors: NOT_FOUND. */
export async function hasNothingAfter({ context }: RestCall, id: string, after: number): Promise<boolean> {
  const row = await context.loaders.execution.load(id);
  if (row === null) throw noExecution();
  if (after === 0 || !isTerminal(row.state)) return false;
  return (await context.services.executionReads.events(id, after, 1, context.viewer)).length === 0;
}

async function formatEvent(event: EventRow, { context }: RestCall, own: boolean): Promise<string> {
  const json = eventJson(event);
  if (TERMINAL.has(event.type)) {
    context.renew();
    json['execution'] = await executionJson(event.executionId, context, own ? 'acted' : 'execution');
  }
  return eventFrame(event.type, JSON.stringify(json), event.sequence);
}
