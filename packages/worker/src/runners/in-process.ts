import { systemClock } from '../clock.ts';
import { HandlerRun } from '../handler-run.ts';
import type { RunHost, RunJob, Runner, RunningHandler } from '../run-host.ts';
import type { Workflow } from '../workflow.ts';

export interface InProcessOptions {
  readonly workflows: ReadonlyMap<string, Workflow>;
  readonly longSleepMs: number;
  /** Whether transient calls run as a part of their caller. */
  readonly transientCalls: boolean;
}

/** Runs handlers as functions of this process. */
export class InProcessRunner implements Runner {
  readonly #options: InProcessOptions;

  constructor(options: InProcessOptions) {
    this.#options = options;
  }

  start(job: RunJob, host: RunHost): RunningHandler {
    const { workflows, longSleepMs, transientCalls } = this.#options;
    const workflow = workflows.get(job.workflow);
    if (workflow === undefined) throw new Error(`There is no handler for ${job.workflow}.`);
    return new HandlerRun({
      workflow,
      job,
      host,
      clock: systemClock,
      random: Math.random,
      longSleepMs,
      transient: (ref) => {
        const child = transientCalls ? workflows.get(ref) : undefined;
        return child?.options.runner === undefined || child.options.runner === 'inprocess' ? child : undefined;
      },
    });
  }
}
