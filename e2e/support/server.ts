import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

/** The repository, as its users have it. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The built command: the tests run what is shipped. */
export const musterCommand = path.join(root, 'packages/cli/dist/muster.mjs');

export interface ServerOptions {
  /** Added to a clean environment. */
  readonly env?: Record<string, string>;
  /** Whether the demo fleet comes up too. */
  readonly demo?: boolean;
  /** Its admin token, where another server has the same; absent: one of its own. */
  readonly token?: string;
}

/** Seconds that make a lost worker a matter of seconds. Heartbeats come every second, so that three of them make it stale. */
export const hastyLiveness = {
  MUSTER_HEARTBEAT_SECONDS: '1',
  MUSTER_STALE_SECONDS: '3',
  MUSTER_OFFLINE_SECONDS: '6',
} as const;

/**
 * A port nobody uses now. Kept by number, so that a server can come back under the same address: below those that the system gives to connections,
 * so that it is not gone by then.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.on('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** What a server inherits: enough to run, nothing that configures it. */
export function cleanEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR, LANG } = process.env;
  return { PATH, HOME, ...(TMPDIR ? { TMPDIR } : {}), ...(LANG ? { LANG } : {}) };
}

/** One built server with a data directory of its own; it can be killed and started again under the same address. */
export class Server {
  readonly token: string;
  readonly dataDir = mkdtempSync(path.join(tmpdir(), 'muster-e2e-'));
  readonly port: number;
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  #output = '';
  #startedAt = 0;

  private constructor(port: number, options: ServerOptions) {
    this.port = port;
    this.token = options.token ?? randomBytes(24).toString('base64url');
    this.#options = options;
  }

  static async start(options: ServerOptions = {}): Promise<Server> {
    const server = new Server(await freePort(), options);
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Everything it has printed since the first start. */
  get output(): string {
    return this.#output;
  }

  /** What its present process has printed. */
  get outputSinceStart(): string {
    return this.#output.slice(this.#startedAt);
  }

  get environment(): Record<string, string> {
    return {
      ...cleanEnvironment(),
      PORT: String(this.port),
      MUSTER_DATA_DIR: this.dataDir,
      MUSTER_ADMIN_TOKEN: this.token,
      ...this.#options.env,
    };
  }

  /** Starts the process and waits until it is ready. */
  async start(): Promise<void> {
    const args = [musterCommand, 'serve', ...(this.#options.demo ? [] : ['--no-demo'])];
    const child = spawn(process.execPath, args, {
      cwd: this.dataDir,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#startedAt = this.#output.length;
    const keep = (chunk: Buffer) => {
      this.#output += chunk.toString('utf8');
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    await until(
      () => `${this.url}/readyz\n${this.#output}`,
      async () => {
        if (child.exitCode !== null) return 'gone';
        const answer = await fetch(`${this.url}/readyz`).catch(() => null);
        return answer?.ok ? 'ready' : null;
      },
      200,
    );
    if (child.exitCode !== null) throw new Error(`the server has ended with code ${child.exitCode}:\n${this.#output}`);
  }

  /** Ends it as a crash would, at once. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Asks it to stop. @returns its exit code, null where a signal ended it */
  async stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** Stops it and removes its data. */
  async dispose(): Promise<void> {
    await this.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
    child.kill(signal);
    const reminder = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const code = await ended;
    clearTimeout(reminder);
    return code;
  }
}
