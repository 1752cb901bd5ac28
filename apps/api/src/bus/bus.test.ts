import { createTestDatabase } from '@muster/db/testing';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Bus } from './bus.ts';
import { createInProcessBus } from './in-process-bus.ts';
import { createPostgresBus } from './postgres-bus.ts';

let target: string;
let remove: () => Promise<void>;
const buses: Bus[] = [];

beforeAll(async () => {
  const created = await createTestDatabase('postgres');
  if (typeof created.target !== 'string') throw new Error('a URL was expected');
  ({ remove } = created);
  target = created.target;
});
afterEach(() => Promise.all(buses.splice(0).map((bus) => bus.close())));
afterAll(() => remove());

let nextOrigin = 1;

async function postgresBus(onError: (error: unknown) => void = () => undefined): Promise<Bus> {
  const bus = await createPostgresBus({
    connect: async () => {
      const client = new Client({ connectionString: target });
      await client.connect();
      return client;
    },
    origin: `replica-${nextOrigin++}`,
    onError: (_topic, error) => onError(error),
  });
  buses.push(bus);
  return bus;
}

/** Resolves with what was heard once there are that many messages. */
function hear(bus: Bus, count: number): Promise<string[]> {
  return new Promise((resolve) => {
    const heard: string[] = [];
    bus.subscribe('wake', ({ reason }) => {
      heard.push(reason);
      if (heard.length === count) resolve(heard);
    });
  });
}

/** One contract for every bus: what one replica hears of its own messages. */
describe.each([
  [
    'in process',
    (onError: (error: unknown) => void) => Promise.resolve(createInProcessBus((_topic, error) => onError(error))),
  ],
  ['over PostgreSQL', postgresBus],
])('the bus %s', (_name, create) => {
  it('delivers in order, after the publisher has gone on', async () => {
    const bus = await create(() => undefined);
    const all = hear(bus, 2);
    let during = true;
    bus.subscribe('wake', () => expect(during).toBe(false));
    bus.publish('wake', { reason: 'a' });
    bus.publish('wake', { reason: 'b' });
    during = false;
    expect(await all).toEqual(['a', 'b']);
  });

  it('goes on when a handler throws, and tells nobody but the log', async () => {
    const errors: unknown[] = [];
    const bus = await create((error) => errors.push(error));
    bus.subscribe('wake', () => {
      throw new Error('broken');
    });
    const all = hear(bus, 1);
    bus.publish('wake', { reason: 'a' });
    expect(await all).toEqual(['a']);
    expect(errors).toHaveLength(1);
  });

  it('lets a handler publish, and stops when asked to', async () => {
    const bus = await create(() => undefined);
    const heard: string[] = [];
    const stop = bus.subscribe('wake', ({ reason }) => {
      heard.push(reason);
      if (reason === 'a') bus.publish('wake', { reason: 'b' });
    });
    const all = hear(bus, 2);
    bus.publish('wake', { reason: 'a' });
    await all;
    stop();
    const last = hear(bus, 1);
    bus.publish('wake', { reason: 'c' });
    await last;
    expect(heard).toEqual(['a', 'b']);
  });
});

describe('two replicas on one PostgreSQL', () => {
  it('hear each other in order, and nobody hears a message twice', async () => {
    const [a, b] = [await postgresBus(), await postgresBus()];
    const reasons = Array.from({ length: 500 }, (_, i) => `message ${i}`);
    const heard = [hear(a, 500), hear(b, 500)];
    for (const reason of reasons) a.publish('wake', { reason });
    expect(await Promise.all(heard)).toEqual([reasons, reasons]);
  });

  it('are told to read everything again after a connection was lost, and hear each other as before', async () => {
    const [a, b] = [await postgresBus(), await postgresBus()];
    const resynced = Promise.all(
      [a, b].map((bus) => new Promise<void>((resolve) => void bus.subscribe('resync', () => resolve()))),
    );
    const killer = new Client({ connectionString: target });
    await killer.connect();
    await killer.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query LIKE '%pg_notify%'
      AND pid <> pg_backend_pid()`);
    await killer.end();
    await resynced;
    const heard = hear(b, 1);
    a.publish('wake', { reason: 'again' });
    expect(await heard).toEqual(['again']);
  });
});
