import type { AbortCause, RunJob, Settled } from '../run-host.ts';

/** What a child asks of the host of its run, by the name of the method. */
export const hostMethods = ['recordStep', 'call', 'suspend', 'event'] as const;
export type HostMethod = (typeof hostMethods)[number];

/** Where a child finds its {@link ChildSetup}, as JSON, in its environment. */
export const setupVariable = 'MUSTER_RUNNER_SETUP';

/** How a child imports a module: given as `module:export`, a function of the path; null: by `import()`. */
export interface ChildSetup {
  /** URL of the module that defines the workflow. */
  readonly module: string;
  readonly loader: string | null;
  readonly memoryLimitBytes: number;
  /** Process id of the worker. */
  readonly parent: number;
}

/** From the worker to a child. */
export type ToChild =
  | {
      readonly kind: 'run';
      readonly job: RunJob;
      readonly longSleepMs: number;
      /** Workflows that the worker runs as a part of the run that calls them. */
      readonly transient: readonly string[];
    }
  | { readonly kind: 'abort'; readonly cause: AbortCause }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown };

/** From a child to the worker. */
export type FromChild =
  /** It listens. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'ask'; readonly id: number; readonly method: HostMethod; readonly argument: unknown }
  | { readonly kind: 'settled'; readonly settled: Settled };

/** Whether a message of a child's process is one of these; a handler can send others over the same channel. */
export function isFromChild(message: unknown): message is FromChild {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return false;
  if (message.kind === 'ask')
    return 'method' in message && (hostMethods as readonly unknown[]).includes(message.method);
  return message.kind === 'ready' || message.kind === 'settled';
}
