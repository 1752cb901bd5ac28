import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';

const KEEP_ALIVE_MS = 12_000;
/** Unsent bytes at which a reader is given up. */
export const MAX_UNSENT_BYTES = 8 * 1_048_576;

/**
 * Answers with Server-Sent Events: `next` with a result each, `complete` at the end. A stream that the server ends at a stop has no
 * `complete`, so that clients come back. Ends the source when the reader goes, also silently: what it does not take within three
 * keep-alives, or more than 8 MiB unsent, closes it.
 */
export async function openEventStream(
  response: ServerResponse,
  result: ExecutionResult | AsyncGenerator<ExecutionResult, void, void>,
  open: Set<ServerResponse>,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-content-type-options': 'nosniff',
    'x-accel-buffering': 'no',
  });
  response.write('retry: 1000\n\n');
  const send = (event: string, data: string): boolean => response.write(`event: ${event}\ndata: ${data}\n\n`);
  if (!(Symbol.asyncIterator in result)) {
    send('next', JSON.stringify(result));
    send('complete', '');
    response.end();
    return;
  }
  open.add(response);
  let idle = 0;
  const timer = setInterval(() => {
    idle = response.writableLength > 0 ? idle + 1 : 0;
    if (idle >= 3 || response.writableLength > MAX_UNSENT_BYTES) response.destroy();
    else if (idle === 0) response.write(':\n\n');
  }, KEEP_ALIVE_MS);
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  void closed.then(() => result.return());
  try {
    for await (const item of result) {
      if (!send('next', JSON.stringify(item)))
        await Promise.race([new Promise<void>((resolve) => response.once('drain', resolve)), closed]);
      if (response.destroyed || response.writableEnded) break;
    }
    if (!response.destroyed && !response.writableEnded) {
      send('complete', '');
      response.end();
    }
  } finally {
    clearInterval(timer);
    open.delete(response);
    await result.return();
  }
}
