/**
 * The seam between a running handler and whoever carries what it does: in the worker's own process the reports
 * themselves, in a child process messages to its parent. Everything that crosses it is JSON, and every answer is
 * awaited, so that either side may be another process.
 */

/** Why a handler is aborted; decides what its execution ends as. */
export type AbortCause = 'cancelled' | 'timed out' | 'lost' | 'silence' | 'stopping' | 'replaced';

/** An error as it is stored and shown. */
export interface HandlerError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string | null;
  readonly retryable: boolean;
}

/** What a step was made by: task, now, random, sleep, pause, call. */
export type StepKind = 'TASK' | 'NOW' | 'RANDOM' | 'TIMER' | 'RESUME' | 'CALL';

/** A step as the server has recorded it. */
export interface RecordedStep {
  readonly position: number;
  readonly kind: StepKind;
  readonly name: string;
  /** Has a result or an error. Open: a timer that runs, a pause that waits, a child that has not ended. */
  readonly done: boolean;
  readonly result?: unknown;
  readonly error?: HandlerError | null;
  /** Milliseconds until an open timer is over. */
  readonly remainingMs?: number | null;
  /** The generation whose handler was the first to see it as done. */
  readonly generation?: number | null;
  /** Its rank among the steps that were completed under that generation by the worker; absent where the server did it. */
  readonly order?: number | null;
}

/** A step that is made, or completed. */
export interface StepWrite {
  readonly position: number;
  readonly kind: StepKind;
  readonly name: string;
  readonly done: boolean;
  readonly result?: unknown;
  readonly error?: HandlerError;
  /** Of an open timer: milliseconds until it is over. */
  readonly delayMs?: number;
  /** Of a done step: see {@link RecordedStep.order}. */
  readonly order?: number;
}

/** A child execution to start, together with the open CALL step that waits for it. */
export interface ChildCall {
  readonly position: number;
  /** `namespace/name`, also the name of the step. */
  readonly workflow: string;
  readonly version?: number;
  readonly input: unknown;
  /** Matched when the child is dispatched; part of nothing else. */
  readonly routingInput?: Readonly<Record<string, unknown>>;
  readonly priority?: number;
}

export type HostAnswer =
  | { readonly status: 'taken' }
  /** The claim is over: nothing of this handler is taken any more, and its abort follows. */
  | { readonly status: 'lost' }
  | { readonly status: 'refused'; readonly code: string; readonly message: string };

/** By what an execution asks the server, while its claim lasts. */
export interface ExecutionAccess {
  readonly server: string;
  readonly token: string;
  /** Name of this worker: the hint of what the execution starts. */
  readonly worker: string;
}

/** What a handler is started with. */
export interface RunJob {
  readonly executionId: string;
  /** The fencing token of the claim. */
  readonly generation: number;
  /** `namespace/name`. */
  readonly workflow: string;
  readonly version: number;
  /** The runner that the version asks for; null: any. */
  readonly runner: string | null;
  /** Counts claims, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Seconds until the carrier aborts the handler; null: no limit. */
  readonly timeoutSeconds: number | null;
  readonly input: unknown;
  /** How the handler is known to the server; never the worker's own credential. */
  readonly access: ExecutionAccess;
  /** Everything that earlier handlers of the execution have recorded, in the order of positions. */
  readonly steps: readonly RecordedStep[];
}

/** An event for the execution's timeline. */
export interface RunEvent {
  readonly type: string;
  readonly data: unknown;
}

/** What a handler asks of its carrier. No method rejects; answers may take as long as the server is away. */
export interface RunHost {
  /** Steps are recorded in the order in which they are handed over, and answered in that order. */
  recordStep(step: StepWrite): Promise<HostAnswer>;
  call(call: ChildCall): Promise<HostAnswer>;
  /** Lets go of the claim until one of these open steps is done. `taken`: the handler has to be abandoned where it is. */
  suspend(positions: readonly number[]): Promise<HostAnswer>;
  /** Adds an event; resolves when the server has answered. */
  event(event: RunEvent): Promise<void>;
}

/** How a handler came to its end. `suspended`: it waits, its claim is gone, and it goes on in another run. */
export type Settled =
  | { readonly kind: 'returned'; readonly output: unknown }
  | { readonly kind: 'threw'; readonly error: HandlerError }
  | { readonly kind: 'suspended' };

/** A handler at work. */
export interface RunningHandler {
  /** How it ended. Never rejects. */
  readonly settled: Promise<Settled>;
  /** Fires the handler's signal; called once at most. */
  abort(cause: AbortCause): void;
  /** It did not end within the grace time: a process is killed, a function is left behind. */
  giveUp(): void;
}

/** A way of running handlers, by what a workflow's `runner` names. */
export interface Runner {
  /** Starts the handler of `job.workflow`. Never throws: what goes wrong is how it settles. */
  start(job: RunJob, host: RunHost): RunningHandler;
}
