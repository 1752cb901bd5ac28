import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ask } from './graphql.ts';
import { cleanEnvironment, root, type Server } from './server.ts';
import { until } from './until.ts';
import type { WorkerNews, WorkerSettings } from './worker-settings.ts';

const main = fileURLToPath(new URL('./worker-main.ts', import.meta.url));

/** A worker in a process of its own. */
export class WorkerProcess {
  readonly name: string;
  readonly news: WorkerNews[] = [];
  readonly #child: ChildProcess;
  #output = '';

  private constructor(settings: WorkerSettings) {
    this.name = settings.name;
    this.#child = fork(main, [JSON.stringify(settings)], {
      cwd: root,
      env: cleanEnvironment(),
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child.on('message', (message) => this.news.push(message as WorkerNews));
    const keep = (chunk: Buffer) => {
      this.#output += chunk.toString('utf8');
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
  }

  /** Starts a worker and waits until the server would give it work. */
  static async start(
    server: Server,
    settings: Partial<WorkerSettings> & { name: string; role: string },
  ): Promise<WorkerProcess> {
    const worker = new WorkerProcess({
      server: server.url,
      token: server.token,
      labels: {},
      capacity: 4,
      prefix: '',
      ...settings,
    });
    await until(
      () => `worker ${settings.name} is eligible; its output: ${worker.#output}`,
      async () => {
        if (worker.#child.exitCode !== null) throw new Error(`the worker has ended:\n${worker.#output}`);
        const data = await ask<{ worker: { eligible: boolean } | null }>(
          server,
          'query Eligible($name: String!) { worker(name: $name) { eligible } }',
          { name: settings.name },
        );
        return data.worker?.eligible;
      },
    );
    return worker;
  }

  get output(): string {
    return this.#output;
  }

  /** Waits until a `hold` execution has reached it. */
  async holding(execution: string): Promise<void> {
    await until(
      () => `${this.name} holds ${execution}; its output: ${this.#output}`,
      () => this.news.some((item) => item.kind === 'holding' && item.execution === execution),
    );
  }

  /** SIGSTOP: it freezes with its socket open. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  /** SIGCONT: it goes on as if nothing had happened. */
  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Ends it without a goodbye. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Asks it to leave. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    // One that is frozen hears nothing else than SIGKILL.
    if (signal !== 'SIGKILL') child.kill('SIGCONT');
    const reminder = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(reminder);
  }
}
