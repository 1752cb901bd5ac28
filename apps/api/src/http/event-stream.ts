import type { ServerResponse } from 'node:http';

const KEEP_ALIVE_MS = 12_000;
/** Unsent bytes at which a reader is given up. */
export const MAX_UNSENT_BYTES = 8 * 1_048_576;

export interface EventStreamOptions<T> {
  /** One or more frames for an item; see `eventFrame`. */
  readonly format: (item: T) => string | Promise<string>;
  /** Sent when the source has ended by itself; a stream that the server ends at a stop has none, so that clients come back. */
  readonly last?: string;
  /** Open streams, ended at a stop. */
  readonly open: Set<ServerResponse>;
  readonly keepAliveMs?: number | undefined;
}

/** One event as it travels; `data` has no line breaks. With an id, a reader that comes back says which one it had last. */
export function eventFrame(event: string, data: string, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Begins an answer of Server-Sent Events. */
export function beginEventStream(response: ServerResponse, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-content-type-options': 'nosniff',
    'x-accel-buffering': 'no',
    ...headers,
  });
  response.write('retry: 1000\n\n');
}

/**
 * Sends what the source gives, as fast as the reader takes it, with comments as keep-alives. Ends the source when the reader goes, also
 * silently: what it does not take within three keep-alives, or more than 8 MiB unsent, closes it.
 */
export async function sendEvents<T>(
  response: ServerResponse,
  source: AsyncGenerator<T, void, void>,
  { format, last, open, keepAliveMs }: EventStreamOptions<T>,
): Promise<void> {
  open.add(response);
  let idle = 0;
  const timer = setInterval(() => {
    idle = response.writableLength > 0 ? idle + 1 : 0;
    if (idle >= 3 || response.writableLength > MAX_UNSENT_BYTES) response.destroy();
    else if (idle === 0) response.write(':\n\n');
  }, keepAliveMs ?? KEEP_ALIVE_MS);
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  void closed.then(() => source.return());
  try {
    for await (const item of source) {
      const frame = await format(item);
      if (response.destroyed || response.writableEnded) break;
      if (!response.write(frame))
        await Promise.race([new Promise<void>((resolve) => response.once('drain', resolve)), closed]);
      if (response.destroyed || response.writableEnded) break;
    }
    if (!response.destroyed && !response.writableEnded) response.end(last);
  } finally {
    clearInterval(timer);
    open.delete(response);
    await source.return();
  }
}
