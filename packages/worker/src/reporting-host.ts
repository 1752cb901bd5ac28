import { type ClientError, reconnectDelay } from '@muster/client';
import type { Log } from './log.ts';
import type { ReportAnswer, Reporter } from './reporter.ts';
import type { ChildCall, HostAnswer, RunEvent, RunHost, StepWrite } from './run-host.ts';

export interface ReportingHostOptions {
  readonly id: string;
  readonly generation: number;
  readonly reporter: Reporter;
  /** The handler has handed over something for the first time. */
  readonly onFirst: () => void;
  /** The server has given the claim to others. */
  readonly onLost: () => void;
  readonly log: Log;
}

/** Carries what a handler does to the server, under the generation of its claim. */
export class ReportingHost implements RunHost {
  readonly #options: ReportingHostOptions;
  #first = true;
  #letGo: ((answer: HostAnswer) => void) | undefined;

  constructor(options: ReportingHostOptions) {
    this.#options = options;
  }

  /** The handler only waits, and the server has been told; its answer has not come yet. */
  get suspending(): boolean {
    return this.#letGo !== undefined;
  }

  /** Answers the suspension in the server's place: what came after it shows that it was taken. */
  suspended(): void {
    this.#letGo?.({ status: 'taken' });
  }

  async recordStep(step: StepWrite): Promise<HostAnswer> {
    const { id, generation, reporter } = this.#options;
    this.#checkpoint();
    const answer = await reporter.steps.add({ id, generation, ...step });
    return await this.#read(answer, step.position);
  }

  async call(call: ChildCall): Promise<HostAnswer> {
    const { id, generation, reporter } = this.#options;
    this.#checkpoint();
    const { routingInput, ...rest } = call;
    const item = { id, generation, name: call.workflow, ...rest };
    const answer = await reporter.calls.add(
      routingInput === undefined ? item : { ...item, routingInput: { ...routingInput } },
    );
    return await this.#read(answer, call.position);
  }

  async suspend(positions: readonly number[]): Promise<HostAnswer> {
    const { id, generation, reporter } = this.#options;
    this.#checkpoint();
    const letGo = new Promise<HostAnswer>((resolve) => {
      this.#letGo = resolve;
    });
    const answered = reporter.suspends
      .add({ id, generation, positions: [...positions] })
      .then((answer) => (this.suspending ? this.#read(answer, 0) : undefined));
    const answer = (await Promise.race([letGo, answered])) ?? { status: 'taken' };
    this.#letGo = undefined;
    return answer;
  }

  async event({ type, data }: RunEvent): Promise<void> {
    const { id, generation, reporter, log } = this.#options;
    this.#checkpoint();
    const { code, message } = await reporter.events.add({ id, generation, type, data });
    if (code === 'BAD_INPUT' || code === 'TOO_LARGE')
      log('warn', `An event was refused: ${message ?? code}`, { execution: id, type });
  }

  async #read({ code, message }: ReportAnswer, position: number): Promise<HostAnswer> {
    if (code === null) return { status: 'taken' };
    const over =
      code === 'NOT_FOUND' || code === 'FORBIDDEN' || (code === 'CONFLICT' && !(await this.#holds(position)));
    if (!over) return { status: 'refused', code, message: message ?? code };
    this.#options.onLost();
    return { status: 'lost' };
  }

  // A conflict says that the claim is over, or that what was sent does not fit what is there: the server knows which.
  async #holds(position: number): Promise<boolean> {
    const { id, generation, reporter } = this.#options;
    for (let failures = 0; ; failures += 1) {
      try {
        await reporter.stepPage(id, generation, position - 1);
        return true;
      } catch (error) {
        if ((error as ClientError).code !== 'UNAVAILABLE') return false;
        await new Promise((resolve) => setTimeout(resolve, reconnectDelay(failures, Math.random)).unref());
      }
    }
  }

  #checkpoint(): void {
    if (!this.#first) return;
    this.#first = false;
    this.#options.onFirst();
  }
}
