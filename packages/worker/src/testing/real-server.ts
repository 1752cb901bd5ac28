import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '@muster/client';
import { createTestDatabase, testDatabaseKind } from '@muster/db/testing';

const main = fileURLToPath(new URL('../../../../apps/api/src/main.ts', import.meta.url));

/**
 * The server itself, from source, in a data directory of its own; for tests that want no stand-in. Its database is of the kind that this run of
 * the tests is about: MUSTER_TEST_DATABASE, else embedded.
 */
export class RealServer {
  readonly token = randomBytes(24).toString('base64url');
  readonly #dir = mkdtempSync(join(tmpdir(), 'muster-server-'));
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #postgres: { readonly url: string; readonly remove: () => Promise<void> } | undefined;
  url = '';

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
  }

  get client(): Client {
    return createClient({ url: this.url, token: this.token });
  }

  /** Starts it on a free port, or after a kill on the same one. Resolves when it is up. */
  async start(): Promise<void> {
    const port = this.url === '' ? '0' : new URL(this.url).port;
    const env = {
      ...process.env,
      LOG_LEVEL: 'error',
      ...this.#env,
      PORT: port,
      MUSTER_DATA_DIR: this.#dir,
      MUSTER_ADMIN_TOKEN: this.token,
      ...(await this.#database()),
    };
    const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), main], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    for await (const line of createInterface(child.stdout)) {
      const url = /Muster is up: (http:\S+)\/#login=/.exec(line)?.[1];
      if (url === undefined) continue;
      this.url = url;
      return;
    }
    throw new Error('The server ended before it was up.');
  }

  /** Ends it as a power cut would end the process. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  async #database(): Promise<Record<string, string>> {
    if (testDatabaseKind() === 'embedded') return {};
    this.#postgres ??= await postgresDatabase();
    return { DATABASE_URL: this.#postgres.url };
  }

  async remove(): Promise<void> {
    await this.kill();
    await this.#postgres?.remove();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

async function postgresDatabase() {
  const { target, remove } = await createTestDatabase('postgres');
  if (typeof target !== 'string') throw new Error('A PostgreSQL is known by its URL.');
  return { url: target, remove };
}
