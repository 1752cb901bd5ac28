import {
  type ClientError,
  type LiveLink,
  WorkerReportDocument,
  type WorkerReportInput,
  type WorkerReportMutation,
  WorkerStepsDocument,
  type WorkerStepsQuery,
} from '@muster/client';
import { Stage } from './stage.ts';

type Report = WorkerReportMutation['workerReport'];
export type ClaimAnswer = Report['claims'][number];
export type ReportAnswer = Report['ends'][number];
export type ClaimItem = NonNullable<NonNullable<WorkerReportInput['claims']>>[number];
export type StepPage = WorkerStepsQuery['workerSteps'];
export type CallItem = NonNullable<WorkerReportInput['calls']>[number];
export type StepItem = NonNullable<WorkerReportInput['steps']>[number];
export type SuspendItem = NonNullable<WorkerReportInput['suspends']>[number];
export type EventItem = NonNullable<WorkerReportInput['events']>[number];
export type EndItem = NonNullable<WorkerReportInput['ends']>[number];
export type ReleaseItem = NonNullable<WorkerReportInput['releases']>[number];

type Lists = Omit<WorkerReportInput, 'worker' | 'instanceId'>;

export interface ReporterOptions {
  readonly link: LiveLink;
  readonly worker: string;
  readonly instanceId: string;
  /** The server does not take this instance's reports any more. */
  readonly onRefused: (error: ClientError) => void;
}

/** The kinds of reports of a worker, each a stage of its own, all over the one socket. */
export class Reporter {
  readonly claims: Stage<ClaimItem, ClaimAnswer>;
  readonly calls: Stage<CallItem, ReportAnswer>;
  readonly steps: Stage<StepItem, ReportAnswer>;
  readonly suspends: Stage<SuspendItem, ReportAnswer>;
  readonly events: Stage<EventItem, ReportAnswer>;
  readonly ends: Stage<EndItem, ReportAnswer>;
  readonly releases: Stage<ReleaseItem, ReportAnswer>;
  readonly #options: ReporterOptions;

  constructor(options: ReporterOptions) {
    this.#options = options;
    const { onRefused } = options;
    this.claims = new Stage<ClaimItem, ClaimAnswer>({
      send: async (claims) => (await this.#report({ claims: [...claims] })).claims,
      refuse: (item, error) => ({ id: item.id, code: error.code, message: error.message, claim: null }),
      again: (item) => ({ ...item, again: true }),
      onRefused,
    });
    this.calls = new Stage<CallItem, ReportAnswer>({
      send: async (calls) => (await this.#report({ calls: [...calls] })).calls,
      refuse,
      sizeOf: (item) => jsonLength(item.input),
      onRefused,
    });
    this.steps = new Stage<StepItem, ReportAnswer>({
      send: async (steps) => (await this.#report({ steps: [...steps] })).steps,
      refuse,
      sizeOf: (item) => jsonLength(item.result),
      onRefused,
    });
    this.suspends = new Stage<SuspendItem, ReportAnswer>({
      send: async (suspends) => (await this.#report({ suspends: [...suspends] })).suspends,
      refuse,
      onRefused,
    });
    this.events = new Stage<EventItem, ReportAnswer>({
      send: async (events) => (await this.#report({ events: [...events] })).events,
      refuse,
      sizeOf: (item) => jsonLength(item.data),
      onRefused,
    });
    this.ends = new Stage<EndItem, ReportAnswer>({
      send: async (ends) => (await this.#report({ ends: [...ends] })).ends,
      refuse,
      sizeOf: (item) => jsonLength(item.output),
      onRefused,
    });
    this.releases = new Stage<ReleaseItem, ReportAnswer>({
      send: async (releases) => (await this.#report({ releases: [...releases] })).releases,
      refuse,
      onRefused,
    });
  }

  /** A page of the recorded steps of a claim, after that position. Rejects with ClientError: CONFLICT where the claim is over. */
  async stepPage(id: string, generation: number, after: number): Promise<StepPage> {
    const { link, worker, instanceId } = this.#options;
    const { workerSteps } = await link.request(WorkerStepsDocument, { worker, instanceId, id, generation, after });
    return workerSteps;
  }

  resume(): void {
    for (const stage of this.#stages()) stage.resume();
  }

  pause(): void {
    for (const stage of this.#stages()) stage.pause();
  }

  #stages(): readonly Pick<Stage<unknown, unknown>, 'resume' | 'pause'>[] {
    return [this.claims, this.calls, this.steps, this.suspends, this.events, this.ends, this.releases];
  }

  async #report(lists: Lists): Promise<Report> {
    const { link, worker, instanceId } = this.#options;
    const answer = await link.request(WorkerReportDocument, { input: { worker, instanceId, ...lists } });
    return answer.workerReport;
  }
}

function refuse(item: { readonly id: string }, error: ClientError): ReportAnswer {
  return { id: item.id, code: error.code, message: error.message };
}

function jsonLength(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}
