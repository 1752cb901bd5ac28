import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment, root } from '../support/server.ts';
import { CuttableLink } from './cuttable-link.ts';
import type { SoakWorkerSettings } from './soak-settings.ts';

const main = fileURLToPath(new URL('./soak-worker.ts', import.meta.url));

/** A worker of the soak: a process that may be killed, frozen, stopped and cut off, and comes back under its name. */
export class SoakMember {
  readonly #settings: SoakWorkerSettings;
  readonly #link: CuttableLink;
  #child: ChildProcess | undefined;
  #output = '';

  private constructor(settings: SoakWorkerSettings, link: CuttableLink) {
    this.#settings = settings;
    this.#link = link;
  }

  static async start(port: () => number, settings: Omit<SoakWorkerSettings, 'server'>): Promise<SoakMember> {
    const link = await CuttableLink.open(port);
    const member = new SoakMember({ ...settings, server: link.url }, link);
    member.start();
    return member;
  }

  get name(): string {
    return this.#settings.name;
  }

  /** The end of what its processes have printed. */
  get output(): string {
    return this.#output.slice(-4_000);
  }

  start(): void {
    const child = fork(main, [JSON.stringify(this.#settings)], {
      cwd: root,
      env: cleanEnvironment(),
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString('utf8')).slice(-20_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    this.#child = child;
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  cut(): void {
    this.#link.cut();
  }

  mend(): void {
    this.#link.mend();
  }

  /** Ends its process and waits for that. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    child.kill('SIGCONT');
    const reminder = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await ended;
    clearTimeout(reminder);
  }

  async close(): Promise<void> {
    this.#link.mend();
    await this.end('SIGKILL');
    await this.#link.close();
  }
}
