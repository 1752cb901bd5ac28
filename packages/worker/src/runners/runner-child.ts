import { type ChildProcess, fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import { describeError } from '../handler-error.ts';
import type { AbortCause, RunHost, RunJob, RunningHandler, Settled } from '../run-host.ts';
import { type ChildSetup, type FromChild, isFromChild, setupVariable, type ToChild } from './messages.ts';
import { crashError, type ProcessEnd } from './runner-crashed.ts';

/** Characters of stderr that are kept. */
const mostStderr = 8_192;
/** What an ended process has sent is waited for so long: others may hold its pipes open. */
const restMs = 1_000;
/** A process that has told how its handler ended, ends itself; if not, it is ended after so long. */
const leaveMs = 2_000;

const apart = process.platform !== 'win32';

export interface ChildOptions {
  readonly program: string;
  readonly flags: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly setup: ChildSetup;
  readonly memoryLimitMb: number;
  /** Milliseconds that a handler has to end after its claim was lost; then its process is ended. */
  readonly graceMs: number;
}

/** What the handler of a job needs beside the job. */
export interface ChildRunOptions {
  readonly longSleepMs: number;
  readonly transient: readonly string[];
}

/** A process that runs one handler, seen from the worker. It leads a process group of its own. */
export class RunnerChild {
  readonly module: string;
  /** How it ended. */
  readonly gone: Promise<ProcessEnd>;
  readonly #options: ChildOptions;
  readonly #process: ChildProcess;
  readonly #listening: Promise<void>;
  #onListening: () => void = () => undefined;
  #onSettled: (settled: Settled) => void = () => undefined;
  #host: RunHost | undefined;
  #stderr = '';

  constructor(options: ChildOptions) {
    this.#options = options;
    this.module = options.setup.module;
    this.#listening = new Promise((resolve) => {
      this.#onListening = resolve;
    });
    this.#process = fork(options.program, [], {
      execArgv: [...options.flags],
      env: { ...options.environment, [setupVariable]: JSON.stringify(options.setup) },
      // Not in the group of the worker: Ctrl-C is for the worker, and what the handler starts can be ended with it.
      detached: apart,
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    this.#keepStderr(this.#process.stderr);
    this.#process.on('message', (message) => {
      if (isFromChild(message)) this.#receive(message);
    });
    this.gone = this.#ended();
  }

  /** Runs the handler of a job in it; once. */
  run(job: RunJob, host: RunHost, options: ChildRunOptions): RunningHandler {
    this.#host = host;
    const told = new Promise<Settled>((resolve) => {
      this.#onSettled = resolve;
    });
    const crashed = this.gone.then(
      (end): Settled => ({
        kind: 'threw',
        error: crashError(end, this.#options.memoryLimitMb),
      }),
    );
    let reason: DOMException | undefined;
    const abandoned = new Promise<Settled>((resolve) => {
      this.#giveUp = () => resolve({ kind: 'threw', error: describeError(reason) });
    });
    void this.#listening.then(() => this.#send({ kind: 'run', job, ...options }));
    return {
      settled: Promise.race([told, abandoned, crashed]),
      abort: (cause: AbortCause) => {
        reason = new DOMException(`The handler was aborted: ${cause}.`, 'AbortError');
        void this.#listening.then(() => this.#send({ kind: 'abort', cause }));
        // Nobody gives it up: there is nothing to report in its place.
        if (cause === 'lost') setTimeout(() => this.kill(), this.#options.graceMs).unref();
      },
      giveUp: () => {
        this.#giveUp();
        this.kill();
      },
    };
  }

  #giveUp: () => void = () => undefined;

  /** Ends it at once, and what it has started. */
  kill(): void {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      process.kill(apart ? -pid : pid, 'SIGKILL');
    } catch {
      this.#process.kill('SIGKILL');
    }
  }

  #receive(message: FromChild): void {
    switch (message.kind) {
      case 'ready':
        this.#onListening();
        return;
      case 'settled':
        this.#onSettled(message.settled);
        setTimeout(() => this.kill(), leaveMs).unref();
        return;
      case 'ask':
        void this.#answer(message);
    }
  }

  async #answer({ id, method, argument }: FromChild & { kind: 'ask' }): Promise<void> {
    const ask = this.#host?.[method] as ((argument: unknown) => Promise<unknown>) | undefined;
    const answer = await ask?.call(this.#host, argument);
    this.#send({ kind: 'answer', id, answer: answer ?? null });
  }

  #send(message: ToChild): void {
    // Whether it arrives shows in what comes back; a process that has ended meanwhile tells by its end.
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  #keepStderr(stderr: Readable | null): void {
    stderr?.on('data', (chunk: Buffer) => {
      process.stderr.write(chunk);
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-mostStderr);
    });
  }

  #ended(): Promise<ProcessEnd> {
    const child = this.#process;
    return new Promise((resolve) => {
      const end = (startError?: string) =>
        resolve({
          code: child.exitCode,
          signal: child.signalCode,
          stderr: this.#stderr,
          ...(startError === undefined ? {} : { startError }),
        });
      child.on('error', (error) => {
        if (child.pid === undefined) end(error.message);
      });
      child.once('exit', () => setTimeout(() => end(), restMs).unref());
      child.once('close', () => end());
    });
  }
}
