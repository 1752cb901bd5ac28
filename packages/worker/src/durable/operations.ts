import type { Clock } from '../clock.ts';
import type {
  ChildCall,
  HandlerError,
  HostAnswer,
  RecordedStep,
  RunHost,
  RunJob,
  StepKind,
  StepWrite,
} from '../run-host.ts';
import { Deliveries } from './deliveries.ts';
import { Journal } from './journal.ts';
import { mayBeLeftBehind } from './left-behind.ts';
import { StepError } from './step-error.ts';

export type StepOutcome = { readonly result: unknown } | { readonly error: HandlerError };

/** One durable call that the handler has made and that has not been answered yet. */
export interface Operation {
  readonly position: number;
  readonly kind: StepKind;
  readonly name: string;
  /** The open step, where an earlier handler has made this call already. */
  readonly recorded: RecordedStep | undefined;
}

interface Entry extends Operation {
  /** Waits for what the server will complete. */
  waiting: boolean;
  readonly deliver: (outcome: StepOutcome) => void;
  readonly reject: (reason: unknown) => void;
}

export interface OperationsOptions {
  readonly job: RunJob;
  readonly host: Pick<RunHost, 'recordStep' | 'call' | 'suspend'>;
  readonly clock: Clock;
  /** Everything said so far has to be with the server before the claim is let go. */
  readonly beforeSuspend: () => Promise<void>;
  readonly onSuspended: () => void;
  /** The execution cannot go on, whatever the handler would do. */
  readonly onFatal: (error: unknown) => void;
}

/** Milliseconds between two tries to suspend, where the server did not take the first: it is about to say why. */
const suspendRetryMs = 1_000;

/**
 * The durable calls of one handler: gives each its position, answers from the journal or performs it, hands results to
 * the handler one at a time, and notices when all that is left is waiting.
 */
export class Operations {
  readonly #options: OperationsOptions;
  readonly #journal: Journal;
  readonly #inFlight = new Map<number, Entry>();
  readonly #deliveries: Deliveries;
  #next = 0;
  /** Not waiting for the server: these keep the claim. */
  #working = 0;
  #replayed = 0;
  #order = 0;
  #lastWrite: Promise<unknown> = Promise.resolve();
  /** Failures that the handler has seen and that are recorded only if it does something after them. */
  #unrecorded: StepWrite[] = [];
  #recording: Promise<unknown> | undefined;
  #state: 'running' | 'suspending' | 'closed' = 'running';
  #abort: { readonly reason: unknown; readonly record: boolean } | undefined;
  #onAbort: (() => void) | undefined;
  /** Calls that were made while the claim was about to be let go. */
  #late: ((reason: unknown) => void)[] = [];

  constructor(options: OperationsOptions) {
    this.#options = options;
    this.#journal = new Journal(options.job.steps, options.job.generation);
    this.#deliveries = new Deliveries({
      onlyWaits: () => this.#inFlight.size > 0 && this.#working === 0 && this.#abort === undefined,
      onQuiet: () => void this.#suspend(),
    });
  }

  /** Whether the handler is still doing again what an earlier one has done. */
  get replaying(): boolean {
    return this.#next <= this.#journal.last || this.#replayed < this.#journal.done;
  }

  /** Whether the handler has ended, or was left behind. */
  get closed(): boolean {
    return this.#state === 'closed';
  }

  /**
   * Takes the next position, synchronously, and answers the call: from the journal, or by `perform`, which brings the
   * operation to `complete`, `wait` or `failForNow`. After the end of the handler's run the answer never comes.
   */
  begin<T>(kind: StepKind, name: string, perform: (operation: Operation) => Promise<void>): Promise<T> {
    const answer = new Promise<T>((resolve, refuse) => {
      const reject = (reason: unknown): void => {
        mayBeLeftBehind(reason);
        refuse(reason);
      };
      if (this.#state !== 'running') {
        if (this.#state === 'suspending') this.#late.push(reject);
        return;
      }
      if (this.#abort !== undefined) {
        reject(this.#abort.reason);
        return;
      }
      const position = this.#next;
      this.#next += 1;
      this.#deliveries.touch();
      try {
        const recorded = this.#journal.at(position, kind, name);
        const entry: Entry = {
          position,
          kind,
          name,
          recorded,
          waiting: false,
          deliver: (outcome) =>
            'error' in outcome ? reject(new StepError(outcome.error)) : resolve(outcome.result as T),
          reject,
        };
        this.#start(entry, perform);
      } catch (error) {
        this.#fail(error);
      }
    });
    // A handler may leave a call behind, e.g. in a race; that is no reason to end the process.
    answer.catch(() => undefined);
    return answer;
  }

  /** Records the outcome, then hands it over. */
  async complete(operation: Operation, outcome: StepOutcome): Promise<void> {
    const entry = this.#inFlight.get(operation.position);
    if (entry === undefined || this.closed) return;
    // After an abort a failure is that of the abort, not of the step.
    if (this.#abort !== undefined && (!this.#abort.record || 'error' in outcome)) {
      this.#deliverLive(entry, outcome);
      return;
    }
    const answer = await this.#write(() => {
      const { position, kind, name } = entry;
      const order = this.#order;
      this.#order += 1;
      return this.#options.host.recordStep({ position, kind, name, done: true, order, ...outcome });
    });
    if (answer.status === 'taken') this.#deliverLive(entry, outcome);
    if (answer.status === 'refused') await this.#refused(entry, outcome, answer);
  }

  /** Records an open step. Whether it was taken; where not, the execution goes no further. */
  async open(operation: Operation, delayMs?: number): Promise<boolean> {
    const { position, kind, name } = operation;
    const step = { position, kind, name, done: false };
    const answer = await this.#write(() =>
      this.#options.host.recordStep(delayMs === undefined ? step : { ...step, delayMs }),
    );
    if (answer.status === 'refused') this.#fail(new RefusedStepError(operation, answer));
    return answer.status === 'taken';
  }

  /** Starts a child execution. */
  async call(call: ChildCall): Promise<HostAnswer> {
    return await this.#write(() => this.#options.host.call(call));
  }

  /** The rest of it is the server's: the operation no longer keeps the claim. */
  wait(operation: Operation): void {
    const entry = this.#inFlight.get(operation.position);
    if (entry === undefined || entry.waiting) return;
    entry.waiting = true;
    this.#working -= 1;
    this.#deliveries.schedule();
  }

  /** Hands over a failure without recording it. It is recorded only if the handler goes on: see {@link end}. */
  async failForNow(operation: Operation, error: HandlerError): Promise<void> {
    const entry = this.#inFlight.get(operation.position);
    // Handed over after everything that was sent before, as its order will say.
    for (let last; last !== this.#lastWrite; ) {
      last = this.#lastWrite;
      await last;
    }
    if (entry === undefined || this.closed) return;
    const { position, kind, name } = entry;
    const order = this.#order;
    this.#order += 1;
    this.#deliveries.live(() => {
      this.#unrecorded.push({ position, kind, name, done: true, order, error });
      this.#deliver(entry, { error });
    });
  }

  /**
   * Fails everything that is in flight, except for what is at work in this process: that ends by itself.
   * `record`: whether results of it are still wanted.
   */
  abort(reason: unknown, record: boolean): void {
    if (this.#abort !== undefined) return;
    this.#abort = { reason, record };
    if (this.#state === 'running') this.#rejectWaits(reason);
    this.#onAbort?.();
  }

  /**
   * The handler has come to its end. A failure that was not recorded is forgotten where the next attempt shall try
   * again. Throws NonDeterminismError where it returned without making a call that is recorded.
   */
  async end(how: 'returned' | 'failed' | 'to be tried again'): Promise<void> {
    if (how === 'returned' && this.#abort === undefined) this.#journal.checkEnd(this.#next);
    if (how !== 'to be tried again' && this.#state === 'running' && this.#hasUnrecorded) await this.#recordFailures();
    this.close();
  }

  /** Leaves the handler behind: nothing it awaits is ever answered, so that none of its code runs any more. */
  close(): void {
    this.#state = 'closed';
    this.#inFlight.clear();
    this.#deliveries.stop();
    this.#late = [];
  }

  #start(entry: Entry, perform: (operation: Operation) => Promise<void>): void {
    this.#inFlight.set(entry.position, entry);
    this.#working += 1;
    const { recorded } = entry;
    if (recorded?.done === true) {
      const { error, result } = recorded;
      // What is recorded stays as it is: another attempt would only see it again.
      const outcome: StepOutcome =
        error == null ? { result: result ?? null } : { error: { ...error, retryable: false } };
      const deliver = (): void => {
        this.#replayed += 1;
        this.#deliver(entry, outcome);
      };
      this.#deliveries.replay(this.#journal.rank(entry.position), deliver);
      return;
    }
    // All positions of one turn are given before the first of them starts.
    queueMicrotask(() => {
      this.#perform(entry, perform).catch((error: unknown) => this.#fail(error));
    });
  }

  // What the handler does after a failure that it has seen must not be there without that failure.
  async #perform(entry: Entry, perform: (operation: Operation) => Promise<void>): Promise<void> {
    if (this.#hasUnrecorded) await this.#recordFailures();
    await perform(entry);
  }

  async #write(send: () => Promise<HostAnswer>): Promise<HostAnswer> {
    if (this.closed) return { status: 'lost' };
    const answer = send();
    this.#lastWrite = answer;
    return await answer;
  }

  get #hasUnrecorded(): boolean {
    return this.#unrecorded.length > 0 || this.#recording !== undefined;
  }

  async #recordFailures(): Promise<void> {
    const failures = this.#unrecorded.splice(0).map(async (step) => {
      const answer = await this.#options.host.recordStep(step);
      if (answer.status === 'refused') this.#fail(new RefusedStepError(step, answer));
    });
    if (failures.length > 0) this.#recording = Promise.all([this.#recording, ...failures]);
    await this.#recording;
    this.#recording = undefined;
  }

  async #refused(
    entry: Entry,
    outcome: StepOutcome,
    answer: Extract<HostAnswer, { status: 'refused' }>,
  ): Promise<void> {
    if ('error' in outcome || (answer.code !== 'BAD_INPUT' && answer.code !== 'TOO_LARGE')) {
      this.#fail(new RefusedStepError(entry, answer));
      return;
    }
    const message = `The result of ${entry.kind} ${JSON.stringify(entry.name)} cannot be recorded: ${answer.message}`;
    await this.complete(entry, { error: { type: 'ResultError', message, retryable: false } });
  }

  #deliverLive(entry: Entry, outcome: StepOutcome): void {
    this.#deliveries.live(() => this.#deliver(entry, outcome));
  }

  #deliver(entry: Entry, outcome: StepOutcome): void {
    this.#drop(entry);
    entry.deliver(outcome);
  }

  #drop(entry: Entry): void {
    if (!this.#inFlight.delete(entry.position) || entry.waiting) return;
    this.#working -= 1;
  }

  async #suspend(): Promise<void> {
    this.#state = 'suspending';
    this.#deliveries.stop();
    await this.#options.beforeSuspend();
    await this.#recordFailures();
    const positions = [...this.#inFlight.keys()].toSorted((a, b) => a - b);
    while (this.#state === 'suspending' && this.#abort === undefined) {
      const answer = await this.#options.host.suspend(positions);
      if (answer.status === 'taken') {
        this.close();
        this.#options.onSuspended();
        return;
      }
      if (answer.status === 'refused' && answer.code !== 'CONFLICT') {
        this.#fail(new Error(`The server did not let the execution wait: ${answer.code}: ${answer.message}`));
        return;
      }
      // Lost, or cancelled meanwhile: the abort is on its way.
      if (this.#abort === undefined) await this.#pauseBeforeRetry();
    }
    if (this.#abort === undefined || this.closed) return;
    this.#state = 'running';
    this.#deliveries.start();
    this.#rejectWaits(this.#abort.reason);
  }

  async #pauseBeforeRetry(): Promise<void> {
    await new Promise<void>((resolve) => {
      const callOff = this.#options.clock.after(suspendRetryMs, resolve);
      this.#onAbort = () => {
        callOff();
        resolve();
      };
    });
    this.#onAbort = undefined;
  }

  #rejectWaits(reason: unknown): void {
    for (const entry of [...this.#inFlight.values()]) {
      if (!entry.waiting && entry.kind === 'TASK') continue;
      this.#drop(entry);
      entry.reject(reason);
    }
    for (const reject of this.#late.splice(0)) reject(reason);
  }

  #fail(error: unknown): void {
    if (this.closed) return;
    this.close();
    this.#options.onFatal(error);
  }
}

/** The server did not take a step that the handler cannot go on without, e.g. because the execution has too many. */
class RefusedStepError extends Error {
  readonly retryable = false;

  constructor(
    { position, kind, name }: Omit<Operation, 'recorded'>,
    { code, message }: { code: string; message: string },
  ) {
    super(`${kind} ${JSON.stringify(name)} at position ${position} cannot be recorded: ${message}`);
    this.name = code === 'TOO_LARGE' ? 'TooManyStepsError' : 'RefusedStepError';
  }
}
