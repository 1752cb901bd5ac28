import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, testDatabaseKind } from '@muster/db/testing';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type App, type AppOptions, createApp } from '../app.ts';
import { type ConfigOverrides, readConfig } from '../config.ts';
import type { ControlPlane } from '../control-plane.ts';
import { createLog } from '../log.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // Tests read what they asked for.
  // oxlint-disable-next-line typescript/no-explicit-any
  data: any;
  errors: {
    message: string;
    path?: unknown[];
    extensions: {
      code: string;
      requestId: string;
      field?: string;
      issues: { path: string; code: string; message: string }[];
      current?: unknown;
    };
  }[];
  text: string;
}

export interface TestApp extends App {
  readonly plane: ControlPlane;
  readonly dataDir: string;
  /** What was logged so far. */
  readonly lines: string[];
  post(query: string, variables?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  /** As `post`; throws where there are errors. */
  // oxlint-disable-next-line typescript/no-explicit-any
  ask(query: string, variables?: Record<string, unknown>): Promise<any>;
  /** A WebSocket client that does not reconnect; of the administrator, or whoever has this token. */
  socket(token?: string): Client;
  /** Stops the server alone; `close` also removes what it stood on. */
  stop(): Promise<void>;
}

/** A whole server on a fresh database of the kind that this run is about, without the worker of its own unless asked for. */
export async function startTestApp(overrides: ConfigOverrides = {}, options: AppOptions = {}): Promise<TestApp> {
  const { target, remove } = await createTestDatabase(testDatabaseKind());
  const dataDir = typeof target === 'string' ? await mkdtemp(join(tmpdir(), 'muster-app-')) : target.dataDir;
  const where = typeof target === 'string' ? { databaseUrl: target, databaseDirectUrl: target } : {};
  const config = readConfig(
    {},
    { port: 0, workerName: 'api-test', embeddedWorker: false, ...where, dataDir, ...overrides },
  );
  const lines: string[] = [];
  const log = createLog('debug', { write: (line: string) => void lines.push(line) });
  let plane: ControlPlane | undefined;
  const app = await createApp(config, { log, onControlPlane: (started) => (plane = started), ...options });
  const url = `http://127.0.0.1:${app.port}`;
  const sockets: Client[] = [];

  const post = async (
    query: string,
    variables?: Record<string, unknown>,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.adminToken}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
    const text = await response.text();
    const body = JSON.parse(text) as Pick<Answer, 'data' | 'errors'>;
    return { status: response.status, headers: response.headers, text, data: body.data, errors: body.errors ?? [] };
  };
  return {
    ...app,
    url,
    plane: plane as ControlPlane,
    dataDir,
    lines,
    post,
    async ask(query, variables) {
      const { data, errors, text } = await post(query, variables);
      if (errors.length > 0) throw new Error(text);
      return data;
    },
    socket(token = app.adminToken) {
      const client = createClient({
        url: `${url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { token },
        retryAttempts: 0,
      });
      sockets.push(client);
      return client;
    },
    stop: () => app.close(),
    async close() {
      for (const socket of sockets) await socket.dispose();
      await app.close();
      await remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Reads a subscription one result at a time. */
export function subscribe(
  client: Client,
  query: string,
  variables?: Record<string, unknown>,
  // oxlint-disable-next-line typescript/no-explicit-any
): { next(): Promise<any>; stop(): Promise<unknown> } {
  const stream = client.iterate({ query, variables });
  return {
    async next() {
      const item = await stream.next();
      if (item.done) throw new Error('the stream has ended');
      if (item.value.errors) throw new Error(JSON.stringify(item.value.errors));
      return item.value.data;
    },
    stop: async () => stream.return?.(),
  };
}

/** Waits until it holds; for what the server does in its own time. */
export async function until<T>(
  read: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  what: string,
): Promise<T> {
  const deadline = performance.now() + 100_000;
  for (;;) {
    const value = await read();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`it did not come: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
