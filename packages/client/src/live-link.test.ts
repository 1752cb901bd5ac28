import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { buildSchema, GraphQLError, type GraphQLSchema } from 'graphql';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { ClientError } from './client-error.ts';
import { type LinkStatus, LiveLink, type LiveLinkOptions } from './live-link.ts';
import { startGraphqlServer, type TestServer } from './testing/graphql-server.ts';
import type { TypedDocument } from './typed-document.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function document<TResult, TVariables = Record<string, never>>(text: string): TypedDocument<TResult, TVariables> {
  return text;
}

const hello = document<{ hello: string }>('query { hello }');
const never = document<{ never: string }>('mutation { never }');
const ticks = document<{ ticks: number }>('subscription { ticks }');

/** A schema whose `ticks` counts subscriptions and whose `never` answers when told. */
function testSchema() {
  const schema = buildSchema(`
    type Query { hello: String! refused: String }
    type Mutation { never: String! }
    type Subscription { ticks: Int! burst: Int! broken: Int! }
  `);
  const state = { subscribed: 0, mutations: 0, closed: 0 };
  const fields = (type: 'Query' | 'Mutation' | 'Subscription') => {
    const object = schema.getType(type);
    return (
      object as unknown as { getFields(): Record<string, { resolve?: unknown; subscribe?: unknown }> }
    ).getFields();
  };
  fields('Query')['hello']!.resolve = () => 'world';
  fields('Query')['refused']!.resolve = () => {
    throw new GraphQLError('No such worker.', { extensions: { code: 'NOT_FOUND', requestId: 'r1' } });
  };
  fields('Mutation')['never']!.resolve = () => {
    state.mutations += 1;
    return new Promise(() => undefined);
  };
  const subscription = (name: string, subscribe: () => AsyncIterable<number>) => {
    fields('Subscription')[name]!.subscribe = subscribe;
    fields('Subscription')[name]!.resolve = (value: number) => value;
  };
  subscription('ticks', () => {
    state.subscribed += 1;
    const first = state.subscribed;
    let reads = 0;
    return {
      next: () => {
        reads += 1;
        return reads === 1 ? Promise.resolve({ done: false, value: first }) : new Promise(() => undefined);
      },
      return: () => {
        state.closed += 1;
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator](): AsyncIterator<number> {
        return this as unknown as AsyncIterator<number>;
      },
    };
  });
  subscription('burst', async function* () {
    for (let value = 0; value < 1_500; value += 1) yield value;
  });
  subscription('broken', async function* () {
    yield 1;
    throw new GraphQLError('Gone.', { extensions: { code: 'NOT_FOUND' } });
  });
  return { schema, state };
}

async function serve(schema: GraphQLSchema, options?: { port?: number; token?: string }): Promise<TestServer> {
  const server = await startGraphqlServer(schema, options);
  cleanups.push(() => server.close());
  return server;
}

function link(url: string, options: Partial<LiveLinkOptions> = {}) {
  const statuses: LinkStatus[] = [];
  const waiting: { readonly state: string; readonly count: number; readonly resolve: () => void }[] = [];
  const live = new LiveLink({
    url,
    random: () => 0,
    openSocket: (address, protocol, headers) => new WebSocket(address, protocol, { headers }),
    ...options,
    onStatus: (status) => {
      statuses.push(status);
      for (const one of waiting) {
        if (statuses.filter((seen) => seen.state === one.state).length >= one.count) one.resolve();
      }
    },
  });
  cleanups.push(() => live.close());
  const reached = (state: LinkStatus['state'], count = 1): Promise<void> =>
    new Promise((resolve) => {
      if (statuses.filter((seen) => seen.state === state).length >= count) resolve();
      else waiting.push({ state, count, resolve });
    });
  return { live, statuses, reached };
}

async function failure(promise: Promise<unknown>): Promise<ClientError> {
  return await promise.then(
    () => {
      throw new Error('It should have failed.');
    },
    (error: ClientError) => error,
  );
}

describe('requests over the socket', () => {
  test('are answered, and carry the token in the first message', async () => {
    const server = await serve(testSchema().schema, { token: 'secret' });
    const { live } = link(server.url, { token: 'secret' });
    expect(await live.request(hello, {})).toEqual({ hello: 'world' });
    expect(server.inits).toEqual([{ token: 'secret' }]);
  });

  test('fail with the code and the request id of the server', async () => {
    const server = await serve(testSchema().schema);
    const { live } = link(server.url);
    const error = await failure(live.request(document('query { refused }'), {}));
    expect(error).toMatchObject({
      name: 'ClientError',
      code: 'NOT_FOUND',
      requestId: 'r1',
      message: 'No such worker.',
    });
    const invalid = await failure(live.request(document('query { nothing }'), {}));
    expect(invalid.message).toContain('nothing');
  });

  test('fail as UNAVAILABLE and are not sent again when the connection breaks', async () => {
    const { schema, state } = testSchema();
    const server = await serve(schema);
    const { live, reached } = link(server.url);
    await live.request(hello, {});
    const pending = failure(live.request(never, {}));
    await expect.poll(() => state.mutations).toBe(1);
    server.cut();
    expect((await pending).code).toBe('UNAVAILABLE');
    await reached('connected', 2);
    expect(await live.request(hello, {})).toEqual({ hello: 'world' });
    expect(state.mutations).toBe(1);
  });

  test('time out where the server does not answer, and those made later still work', async () => {
    const server = await serve(testSchema().schema);
    const { live } = link(server.url);
    const error = await failure(live.request(never, {}, { timeoutMs: 20 }));
    expect(error.code).toBe('UNAVAILABLE');
    expect(error.message).toContain('within 0.02 s');
    expect(await live.request(hello, {})).toEqual({ hello: 'world' });
  });

  test('wait for the first connection, also where the server comes up later', async () => {
    const { schema } = testSchema();
    const early = await serve(schema);
    const port = Number(new URL(early.url).port);
    await early.close();
    const { live, reached } = link(early.url);
    const pending = live.request(hello, {});
    await reached('disconnected');
    await serve(schema, { port });
    expect(await pending).toEqual({ hello: 'world' });
  });
});

describe('subscriptions', () => {
  test('are made again on a new connection, all of them', async () => {
    const { schema, state } = testSchema();
    const server = await serve(schema);
    const { live, reached } = link(server.url);
    const seen: number[] = [];
    for (let one = 0; one < 10; one += 1) {
      live.subscribe(ticks, {}, { next: (event) => seen.push(event.ticks), end: () => undefined });
    }
    await expect.poll(() => seen.length).toBe(10);
    server.cut();
    await reached('connected', 2);
    await expect.poll(() => seen.length).toBe(20);
    expect(state.subscribed).toBe(20);
  });

  test('with resume: false end as UNAVAILABLE with their connection', async () => {
    const { schema, state } = testSchema();
    const server = await serve(schema);
    const { live, reached } = link(server.url);
    const ended = new Promise<ClientError | undefined>((resolve) => {
      live.subscribe(ticks, {}, { next: () => server.cut(), end: resolve }, { resume: false });
    });
    expect((await ended)?.code).toBe('UNAVAILABLE');
    await reached('connected', 2);
    expect(await live.request(hello, {})).toEqual({ hello: 'world' });
    expect(state.subscribed).toBe(1);
  });

  test('are ended at the server when the loop over them is left', async () => {
    const { schema, state } = testSchema();
    const server = await serve(schema);
    const { live } = link(server.url);
    for await (const event of live.iterate(ticks, {})) {
      expect(event.ticks).toBe(1);
      break;
    }
    await expect.poll(() => state.closed).toBe(1);
    expect(state.subscribed).toBe(1);
  });

  test('hand on the error that ends them', async () => {
    const server = await serve(testSchema().schema);
    const { live } = link(server.url);
    const read = async (): Promise<number[]> => {
      const values: number[] = [];
      for await (const event of live.iterate(document<{ broken: number }>('subscription { broken }'), {})) {
        values.push(event.broken);
      }
      return values;
    };
    expect((await failure(read())).message).toContain('Gone.');
  });

  test('give a slow reader an error instead of a buffer without bound', async () => {
    const server = await serve(testSchema().schema);
    const { live } = link(server.url);
    const iterator = live.iterate(document<{ burst: number }>('subscription { burst }'), {});
    const error = await failure(
      (async () => {
        await iterator.next();
        // 1,500 events arrive while nobody reads; the answer of a later request says that they have.
        await live.request(hello, {});
        for await (const event of iterator) void event;
      })(),
    );
    expect(error.message).toContain('more than 1000 events behind');
  });
});

describe('the connection', () => {
  test('a refused token ends the link with UNAUTHENTICATED', async () => {
    const server = await serve(testSchema().schema, { token: 'secret' });
    const { live, statuses } = link(server.url, { token: 'wrong' });
    expect((await failure(live.request(hello, {}))).code).toBe('UNAUTHENTICATED');
    expect(statuses.at(-1)).toMatchObject({ state: 'closed', error: { code: 'UNAUTHENTICATED' } });
    expect((await failure(live.request(hello, {}))).code).toBe('UNAUTHENTICATED');
  });

  test('a peer that takes the connection and never answers is given up', async () => {
    const silent = createServer((socket) => {
      socket.on('error', () => undefined);
      cleanups.push(() => socket.destroy());
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => silent.close());
    const { live } = link(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    expect((await failure(live.request(hello, {}, { timeoutMs: 30 }))).code).toBe('UNAVAILABLE');
  });

  test('a server that stops answering pings is dropped and tried again', async () => {
    const server = await serve(testSchema().schema);
    const sockets: WebSocket[] = [];
    const { reached, live } = link(server.url, {
      pingMs: 15,
      openSocket: (address, protocol) => {
        const socket = new WebSocket(address, protocol);
        sockets.push(socket);
        return socket;
      },
    });
    await live.request(hello, {});
    // Stops reading from the socket: to this side the server is silent now.
    sockets[0]?.pause();
    await reached('disconnected');
    await reached('connected', 2);
    expect(await live.request(hello, {})).toEqual({ hello: 'world' });
  });

  test('closing fails what is under way and opens nothing any more', async () => {
    const server = await serve(testSchema().schema);
    const { live, statuses } = link(server.url);
    const pending = failure(live.request(never, {}));
    await expect.poll(() => live.connected).toBe(true);
    live.close();
    expect((await pending).code).toBe('UNAVAILABLE');
    expect((await failure(live.request(hello, {}))).message).toBe('The link is closed.');
    expect(statuses.at(-1)).toEqual({ state: 'closed' });
  });
});
