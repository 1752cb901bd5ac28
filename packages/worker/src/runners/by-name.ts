import type { RunHost, RunJob, Runner, RunningHandler } from '../run-host.ts';

export const runnerNames = ['inprocess', 'subprocess'] as const;
/** Where a handler runs: as a function of the worker's process, or in a process of its own. */
export type RunnerName = (typeof runnerNames)[number];

/** Gives each job to the runner that its version asks for, `inprocess` where it asks for none. */
export class RunnersByName implements Runner {
  readonly #runners: Readonly<Record<RunnerName, Runner>>;

  constructor(runners: Readonly<Record<RunnerName, Runner>>) {
    this.#runners = runners;
  }

  start(job: RunJob, host: RunHost): RunningHandler {
    return this.#runners[job.runner === 'subprocess' ? 'subprocess' : 'inprocess'].start(job, host);
  }
}
