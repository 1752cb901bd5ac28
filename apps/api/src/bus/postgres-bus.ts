import type { Client } from 'pg';
import type { Bus, BusHandler, BusMessages, BusTopic } from './bus.ts';
import { HandlerRegistry } from './handler-registry.ts';
import { createInProcessBus } from './in-process-bus.ts';
import { decodePayload, type Envelope, encodePayloads } from './notification-codec.ts';

const CHANNEL = 'muster_bus';
/** More waiting than this is a storm: one `resync` costs the receivers less. */
const MAX_QUEUED = 5_000;
const RECONNECT_MS = [100, 300, 1_000, 3_000];

export interface PostgresBusOptions {
  /** Opens a connection of its own that is not behind a pooler: LISTEN needs a session. */
  connect: () => Promise<Client>;
  /** This replica; its own notifications are delivered locally and ignored when they come back. */
  origin: string;
  onError: (topic: BusTopic | 'connection', error: unknown) => void;
}

/**
 * The bus of several replicas on one PostgreSQL: LISTEN/NOTIFY on one connection of its own. Transactions that write rows never
 * notify (commits that do are serialised); messages are sent by this one notifier, as many at a time as wait, one statement in flight.
 */
export async function createPostgresBus(options: PostgresBusOptions): Promise<Bus> {
  const local = createInProcessBus((topic, error) => options.onError(topic, error));
  const remote = new HandlerRegistry((topic, error) => options.onError(topic, error));
  let client: Client | null = null;
  let queue: Envelope[] = [];
  let sending = false;
  let closed = false;

  const receive = (payload: string): void => {
    const decoded = decodePayload(payload);
    if (decoded === null || decoded.origin === options.origin) return;
    for (const [topic, message] of decoded.envelopes) remote.deliver(topic, message);
  };

  const send = async (): Promise<void> => {
    if (sending || client === null) return;
    sending = true;
    try {
      while (queue.length > 0 && client !== null) {
        const batch = queue;
        queue = [];
        const payloads = encodePayloads(options.origin, batch);
        await client.query('SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload', [CHANNEL, payloads]);
      }
    } catch (error) {
      options.onError('connection', error);
    } finally {
      sending = false;
    }
  };

  const connect = async (): Promise<void> => {
    const opened = await options.connect();
    opened.on('notification', (notification) => receive(notification.payload ?? ''));
    opened.on('error', (error) => options.onError('connection', error));
    opened.on('end', () => {
      if (client === opened) client = null;
      if (!closed) void reconnect();
    });
    // Losing a hint costs a slow tick; waiting for the disk would cost every message.
    await opened.query('SET synchronous_commit = off');
    await opened.query(`LISTEN ${CHANNEL}`);
    client = opened;
  };

  const reconnect = async (): Promise<void> => {
    for (let attempt = 0; !closed; attempt++) {
      try {
        await connect();
        remote.deliver('resync', {});
        queue.push(['resync', {}]);
        await send();
        return;
      } catch (error) {
        options.onError('connection', error);
        await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS[Math.min(attempt, RECONNECT_MS.length - 1)]));
      }
    }
  };

  await connect();
  return {
    publish<K extends BusTopic>(topic: K, message: BusMessages[K]): void {
      if (closed) return;
      local.publish(topic, message);
      if (queue.length >= MAX_QUEUED) queue = [['resync', {}]];
      queue.push([topic, message] as unknown as Envelope);
      if (!sending) setImmediate(() => void send());
    },
    subscribe<K extends BusTopic>(topic: K, handler: BusHandler<K>): () => void {
      const offLocal = local.subscribe(topic, handler);
      const offRemote = remote.add(topic, handler);
      return () => {
        offLocal();
        offRemote();
      };
    },
    async close(): Promise<void> {
      if (closed) return;
      await send();
      closed = true;
      await local.close();
      remote.clear();
      await client?.end();
      client = null;
    },
  };
}
