import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { until } from '../testing/test-app.ts';
import { beginEventStream, eventFrame, sendEvents } from './event-stream.ts';

let server: Server;
const open = new Set<ServerResponse>();
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** What the source gave, and whether it was ended. */
interface Source {
  given: number;
  ended: boolean;
}

/** Serves frames of 64 KiB without end, as fast as they are taken, and opens one stream of them. */
async function endless(): Promise<{ source: Source; response: IncomingMessage }> {
  const source: Source = { given: 0, ended: false };
  const item = 'x'.repeat(65_536);
  const items: AsyncGenerator<string, void, void> = {
    next: async () => {
      if (source.ended) return { done: true, value: undefined };
      source.given += 1;
      // Other work gets its turn.
      await new Promise((resolve) => setImmediate(resolve));
      return { done: false, value: item };
    },
    return: async () => {
      source.ended = true;
      return { done: true, value: undefined };
    },
    throw: (error) => Promise.reject(error as Error),
    [Symbol.asyncIterator]: () => items,
    [Symbol.asyncDispose]: async () => undefined,
  };
  server = createServer((_request, answer) => {
    beginEventStream(answer);
    void sendEvents(answer, items, { format: (text) => eventFrame('item', text, source.given), open, keepAliveMs: 20 });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, host: '127.0.0.1', agent: false }, resolve).on('error', reject);
  });
  return { source, response };
}

it('asks for the next item only when the reader takes the last', async () => {
  const { source, response } = await endless();
  let received = 0;
  response.on('data', (chunk: Buffer) => (received += chunk.length));
  await until(() => received > 50 * 65_536, 'what a reader takes');
  // What is under way is what the sockets of both sides hold, not what the source could give.
  expect(source.given * 65_536 - received).toBeLessThan(16 * 1_048_576);
  response.destroy();
  await until(() => source.ended, 'the end of the source');
  expect(open.size).toBe(0);
});

it('gives up a reader that takes nothing', async () => {
  const { source, response } = await endless();
  response.on('error', () => undefined);
  response.pause();
  await until(() => source.ended, 'the end of the source');
  expect(source.given * 65_536).toBeLessThan(32 * 1_048_576);
  expect(open.size).toBe(0);
});
