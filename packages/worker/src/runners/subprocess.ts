import type { Log } from '../log.ts';
import type { HandlerError, RunHost, RunJob, Runner, RunningHandler } from '../run-host.ts';
import type { Workflow } from '../workflow.ts';
import { childEnvironment, childFlags, childProgram } from './child-arguments.ts';
import { ChildPool } from './child-pool.ts';
import { RunnerChild } from './runner-child.ts';
import { crashError } from './runner-crashed.ts';

export interface SubprocessOptions {
  /** MiB that the process of one handler may take; 512 where absent. */
  readonly memoryLimitMb?: number;
  /** Processes that are started ahead and wait for work; 1 where absent. */
  readonly warm?: number;
}

export interface SubprocessRunnerOptions extends Required<SubprocessOptions> {
  readonly workflows: ReadonlyMap<string, Workflow>;
  /** How children import modules, as `module:export`; undefined: by `import()`. */
  readonly moduleLoader: string | undefined;
  /** Kept from children. */
  readonly token: string | undefined;
  readonly joinToken: string | undefined;
  readonly longSleepMs: number;
  readonly graceMs: number;
  /** Whether transient calls run as a part of their caller. */
  readonly transientCalls: boolean;
  readonly log: Log;
}

/** Runs each handler in a process of its own, which ends with it. */
export class SubprocessRunner implements Runner {
  readonly #options: SubprocessRunnerOptions;
  readonly #pool: ChildPool;

  constructor(options: SubprocessRunnerOptions) {
    const { memoryLimitMb, warm, moduleLoader, graceMs, log } = options;
    const secrets = [options.token, options.joinToken].filter((one) => one !== undefined);
    this.#options = options;
    const program = childProgram();
    this.#pool = new ChildPool({
      warm,
      log,
      fork: (module) =>
        new RunnerChild({
          program,
          flags: childFlags(program, memoryLimitMb, process.execArgv),
          environment: childEnvironment(process.env, secrets),
          setup: {
            module,
            loader: moduleLoader ?? null,
            memoryLimitBytes: memoryLimitMb * 1024 * 1024,
            parent: process.pid,
          },
          memoryLimitMb,
          graceMs,
        }),
    });
  }

  /** Starts processes ahead for the first workflow that asks for one. */
  open(): void {
    for (const { options } of this.#options.workflows.values()) {
      if (options.runner !== 'subprocess' || options.module === undefined) continue;
      this.#pool.prepare(options.module);
      return;
    }
  }

  /** Ends the processes that wait for work. Those at work end with their handlers. */
  close(): void {
    this.#pool.close();
  }

  start(job: RunJob, host: RunHost): RunningHandler {
    const module = this.#options.workflows.get(job.workflow)?.options.module;
    if (module === undefined) return settledAs(withoutModule(job.workflow));
    const { workflows, longSleepMs, transientCalls } = this.#options;
    // One that says where it runs is dispatched.
    const anywhere = [...workflows.values()].filter(({ options }) => options.runner === undefined);
    const transient = transientCalls ? anywhere.map(({ ref }) => ref) : [];
    try {
      return this.#pool.take(module).run(job, host, { longSleepMs, transient });
    } catch (error) {
      return settledAs(
        crashError({ code: null, signal: null, stderr: '', startError: String(error) }, this.#options.memoryLimitMb),
      );
    }
  }
}

// Another worker may know better: an old and a new version of a program run side by side while it is rolled out.
function withoutModule(workflow: string): HandlerError {
  const message = `This worker does not know the module of ${workflow}, so no other process can run it: workflow({ module: import.meta.url, … }).`;
  return { type: 'RunnerError', message, retryable: true };
}

function settledAs(error: HandlerError): RunningHandler {
  return { settled: Promise.resolve({ kind: 'threw', error }), abort: () => undefined, giveUp: () => undefined };
}
