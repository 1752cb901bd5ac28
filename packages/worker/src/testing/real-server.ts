import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '@muster/client';

const main = fileURLToPath(new URL('../../../../apps/api/src/main.ts', import.meta.url));

/** The server itself, from source, in a data directory of its own; for tests that want no stand-in. */
export class RealServer {
  readonly #dir = mkdtempSync(join(tmpdir(), 'muster-server-'));
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  url = '';

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
  }

  get token(): string {
    return readFileSync(join(this.#dir, 'admin-token'), 'utf8').trim();
  }

  get client(): Client {
    return createClient({ url: this.url, token: this.token });
  }

  /** Starts it on a free port, or after a kill on the same one. Resolves when it is up. */
  async start(): Promise<void> {
    const port = this.url === '' ? '0' : new URL(this.url).port;
    const env = { ...process.env, LOG_LEVEL: 'error', ...this.#env, PORT: port, MUSTER_DATA_DIR: this.#dir };
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

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
