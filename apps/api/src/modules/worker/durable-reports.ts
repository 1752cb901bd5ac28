import { checkPriority, type JsonObject, type JsonValue, MusterError } from '@muster/core';
import { publishQueued } from '../../dispatch/announce.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import { readRoutingInput } from '../execution/run-service.ts';
import type { StepKind } from './recorded-steps.ts';
import { badInput, type ItemResult, isDataError, type RefusalDeps, type Refusals, taken } from './refusals.ts';
import type { EndError } from './report-service.ts';
import type { HeldItem, Holder } from './report-store.ts';
import {
  type CallItem,
  callExecutions,
  type KnownStep,
  MAX_CALL_DEPTH,
  MAX_STEP_BYTES,
  MAX_STEPS,
  readDeepest,
  readKnownSteps,
  recordSteps,
  type StepItem,
  type StepVerdict,
} from './step-store.ts';
import { readSuspended, suspendExecutions } from './suspend-store.ts';

/** A step as a worker reports it. */
export interface StepReport extends HeldItem {
  position: number;
  kind: StepKind;
  name: string;
  done: boolean;
  result: JsonValue | undefined;
  error: EndError | null;
  order: number | null;
  /** Of an open TIMER. */
  delayMs: number | null;
}

export interface CallReport extends HeldItem {
  position: number;
  workflow: string;
  version: number | null;
  name: string;
  input: JsonValue | undefined;
  /** Not checked yet. Never logged. */
  routingInput: JsonValue | undefined;
  priority: number | null;
}

export interface CallAnswer extends ItemResult {
  /** Raw UUID; null where refused. */
  child: string | null;
}

export interface SuspendReport extends HeldItem {
  positions: readonly number[];
}

export interface DurableReportDeps extends RefusalDeps {
  /** The newest version of `namespace/name`, or the one of that number; null where there is none. */
  findVersion: (workflow: string, number: number | null) => Promise<{ id: number } | null>;
  /** Park time of executions that bring none; 0: for ever. */
  parkTtlSeconds: number;
}

const MAX_NAME = 200;
const tooDeep = (path: string): string =>
  `Calls are nested ${MAX_CALL_DEPTH} deep already (… ${path}): does a workflow call itself without end?`;
/** Ten years. */
const MAX_DELAY_MS = 315_360_000_000;
const OPEN_KINDS: ReadonlySet<StepKind> = new Set(['TIMER', 'RESUME']);

/** What all records have in common. */
interface Recordable extends HeldItem {
  position: number;
  kind: StepKind;
  name: string;
  done: boolean;
}

type Call = CallItem & Recordable;

/** Steps, calls and pauses of executions that a worker holds (docs/worker-protocol.md). Fenced like every other write of a worker. */
export class DurableReports {
  readonly #o: DurableReportDeps;
  readonly #refusals: Refusals;

  constructor(deps: DurableReportDeps, refusals: Refusals) {
    this.#o = deps;
    this.#refusals = refusals;
  }

  async steps(worker: FleetWorker, items: readonly StepReport[]): Promise<ItemResult[]> {
    const stored = items.map(toStepItem);
    const results = new Map<StepItem, ItemResult>();
    const good = stored.filter((item, index) => {
      const problem = stepProblem(items[index] as StepReport);
      if (problem !== undefined) results.set(item, badInput(item.id, problem));
      return problem === undefined;
    });
    for (const wave of waves(good)) {
      const answers = await this.#record(worker, wave, (batch) =>
        recordSteps(this.#o.executor, holderOf(worker), batch),
      );
      for (const [index, item] of wave.entries()) results.set(item, answers[index] as ItemResult);
    }
    return stored.map((item) => results.get(item) as ItemResult);
  }

  async calls(worker: FleetWorker, items: readonly CallReport[]): Promise<CallAnswer[]> {
    if (items.length === 0) return [];
    const deepest = await readDeepest(this.#o.executor, holderOf(worker), [...new Set(items.map((item) => item.id))]);
    const prepared = await Promise.all(
      items.map(async (item) => {
        const path = deepest.get(item.id);
        return path === undefined ? this.#prepare(item) : badInput(item.id, tooDeep(path));
      }),
    );
    const results = new Map<Call, CallAnswer>();
    for (const wave of waves(prepared.filter((one): one is Call => 'child' in one))) {
      const answers = await this.#callWave(worker, wave);
      for (const [index, item] of wave.entries()) results.set(item, answers[index] as CallAnswer);
    }
    return prepared.map((one) => ('child' in one ? (results.get(one) as CallAnswer) : { ...one, child: null }));
  }

  async #callWave(worker: FleetWorker, wave: readonly Call[]): Promise<CallAnswer[]> {
    const { executor, parkTtlSeconds, bus } = this.#o;
    const made = new Set<string>();
    const answers = await this.#record(worker, wave, async (batch) => {
      const verdicts = await callExecutions(executor, holderOf(worker), batch, parkTtlSeconds);
      for (const [index, { child }] of batch.entries()) if (verdicts[index]?.written) made.add(child);
      return verdicts;
    });
    for (const id of made) bus.publish('execution', { id, revision: 1 });
    const repeated = wave.filter((item, index) => answers[index]?.code === null && !made.has(item.child));
    const known = repeated.length === 0 ? [] : await readKnownSteps(executor, repeated);
    return wave.map((item, index) => {
      const answer = answers[index] as ItemResult;
      if (answer.code !== null) return { ...answer, child: null };
      if (made.has(item.child)) return { ...answer, child: item.child };
      return { ...answer, child: known.find((step) => isAbout(step, item))?.child ?? null };
    });
  }

  async suspends(worker: FleetWorker, items: readonly SuspendReport[]): Promise<ItemResult[]> {
    if (items.length === 0) return [];
    const { executor, bus, parkTtlSeconds } = this.#o;
    const results = new Map<SuspendReport, ItemResult>();
    const byId = new Map<string, SuspendReport>();
    for (const item of items) {
      const legal =
        item.positions.length > 0 && item.positions.length <= MAX_STEPS && item.positions.every((p) => p >= 0);
      if (legal) byId.set(item.id, item);
      else results.set(item, badInput(item.id, `positions are 1 to ${MAX_STEPS} numbers from 0 on.`));
    }
    const good = [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    if (good.length > 0) {
      const { moved, missing } = await suspendExecutions(executor, holderOf(worker), good, parkTtlSeconds);
      bus.publish('live', { items: moved.map(({ id, generation }) => ({ id, workerId: null, generation })) });
      for (const { id, revision } of moved) bus.publish('execution', { id, revision });
      publishQueued(
        bus,
        'resumed',
        moved.filter((row) => row.state === 'RESUMING').map((row) => row.id),
      );
      const done = new Set(moved.map((row) => row.id));
      const rest = good.filter((item) => !done.has(item.id));
      const again = rest.length === 0 ? new Set<string>() : await readSuspended(executor, holderOf(worker), rest);
      const late = rest.filter((item) => !again.has(item.id) && !missing.has(item.id));
      const refused = await this.#refusals.explain(worker, late, () => 'PAUSED');
      for (const [index, item] of late.entries()) results.set(item, refused[index] ?? taken(item.id));
      for (const item of rest) {
        if (missing.has(item.id) && !again.has(item.id)) {
          results.set(
            item,
            badInput(item.id, `${missing.get(item.id)} of the positions have no step: record the steps first.`),
          );
        }
      }
    }
    return items.map((item) => results.get(item) ?? taken(item.id));
  }

  /** One statement for steps that are all different; where the database refuses it, item by item, once. */
  async #record<I extends Recordable>(
    worker: FleetWorker,
    items: readonly I[],
    write: (items: readonly I[]) => Promise<StepVerdict[]>,
  ): Promise<ItemResult[]> {
    const verdicts = await eachAlone(items, write);
    const standing = items.filter((_item, index) => verdicts[index]?.held && !verdicts[index].written);
    const known = standing.length === 0 ? [] : await readKnownSteps(this.#o.executor, standing);
    const late = items.filter((_item, index) => verdicts[index]?.held === false);
    const wrote = (item: I): string => `step ${item.position} (${item.name})`;
    const refused = await this.#refusals.explain(worker, late, wrote);
    return items.map((item, index) => {
      const verdict = verdicts[index];
      if (verdict == null) return badInput(item.id, 'The database cannot store this value.');
      if (!verdict.held) return refused[late.indexOf(item)] as ItemResult;
      if (verdict.written) return taken(item.id);
      return judge(
        item,
        known.find((step) => isAbout(step, item)),
      );
    });
  }

  async #prepare(report: CallReport): Promise<Call | ItemResult> {
    const { findVersion, ids, log } = this.#o;
    const { id, generation, position, name, priority } = report;
    const problem = placeProblem(report) ?? checkPriority(priority ?? 0, 'priority')[0]?.message;
    if (problem !== undefined) return badInput(id, problem);
    let routing: JsonObject | null;
    try {
      routing = readRoutingInput(report.routingInput);
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      return { id, code: error.code, message: error.message };
    }
    if (routing !== null) log.info({ execution: id, routingKeys: Object.keys(routing) }, 'routing input received');
    const version = await findVersion(report.workflow, report.version);
    if (version === null) {
      const what = report.version === null ? '' : ` with a version ${report.version}`;
      return badInput(id, `There is no workflow ${JSON.stringify(report.workflow.slice(0, 130))}${what}.`);
    }
    return {
      id,
      generation,
      position,
      name,
      kind: 'CALL',
      done: false,
      child: ids.next(),
      versionId: version.id,
      input: report.input === undefined || report.input === null ? null : JSON.stringify(report.input),
      routingInput: routing === null ? null : JSON.stringify(routing),
      priority,
    };
  }
}

/** What the database made of each item; null where it cannot store one. */
async function eachAlone<I>(
  items: readonly I[],
  write: (items: readonly I[]) => Promise<StepVerdict[]>,
): Promise<(StepVerdict | null)[]> {
  try {
    return await write(items);
  } catch (error) {
    if (!isDataError(error)) throw error;
  }
  const verdicts: (StepVerdict | null)[] = [];
  for (const item of items) {
    try {
      verdicts.push((await write([item]))[0] ?? null);
    } catch (error) {
      if (!isDataError(error)) throw error;
      verdicts.push(null);
    }
  }
  return verdicts;
}

/** An item that was not written though the worker holds the execution: it is there already, or does not fit. */
function judge(item: Recordable, step: KnownStep | undefined): ItemResult {
  const { id, position } = item;
  if (step === undefined) {
    const message = `An execution has at most ${MAX_STEPS} steps with ${MAX_STEP_BYTES / 1_048_576} MiB of results.`;
    return { id, code: 'TOO_LARGE', message };
  }
  if (step.kind !== item.kind || step.name !== item.name) {
    const message = `Position ${position} is ${step.kind} ${JSON.stringify(step.name)} already, not ${item.kind} ${JSON.stringify(item.name)}.`;
    return { id, code: 'CONFLICT', message };
  }
  // The answer to an earlier copy was lost, or it is as open as it was told to be.
  if (step.kind === 'CALL' && step.child !== null && !item.done) return taken(id);
  if (!item.done || (step.done && step.generation === item.generation)) return taken(id);
  if (!step.done) {
    const message = `The result does not fit: an execution may have ${MAX_STEP_BYTES / 1_048_576} MiB of them.`;
    return { id, code: 'TOO_LARGE', message };
  }
  return { id, code: 'CONFLICT', message: `Position ${position} is recorded already.` };
}

function isAbout(step: KnownStep, item: Recordable): boolean {
  return step.id === item.id && step.position === item.position;
}

/** Lists in which no step comes twice, in order: one statement cannot write a row twice. */
function waves<I extends { id: string; position: number }>(items: readonly I[]): I[][] {
  const lists: I[][] = [];
  const seen = new Map<string, number>();
  for (const item of items) {
    const key = `${item.id}:${item.position}`;
    const wave = seen.get(key) ?? 0;
    seen.set(key, wave + 1);
    const list = lists[wave] ?? [];
    list.push(item);
    lists[wave] = list;
  }
  return lists;
}

function holderOf(worker: FleetWorker): Holder {
  return { workerId: worker.id, instance: worker.facts.instanceId };
}

function toStepItem(item: StepReport): StepItem {
  const { result, error } = item;
  return {
    ...item,
    result: result === undefined || !item.done ? null : JSON.stringify(result),
    error: error === null || !item.done ? null : JSON.stringify(error),
    order: item.done ? item.order : null,
    delayMs: item.done ? null : item.delayMs,
  };
}

function placeProblem({ position, name }: { position: number; name: string }): string | undefined {
  if (position < 0) return 'position counts from 0.';
  const legal = name.length >= 1 && name.length <= MAX_NAME && name.isWellFormed() && !name.includes('\u0000');
  return legal ? undefined : `name has 1 to ${MAX_NAME} characters, without NUL or lone surrogates.`;
}

function stepProblem(item: StepReport): string | undefined {
  const { kind, done, delayMs, result, error } = item;
  if (!done && !OPEN_KINDS.has(kind)) return `An open step is a TIMER or a RESUME, not a ${kind}.`;
  if (!done && kind === 'TIMER' && !(delayMs !== null && delayMs >= 0 && delayMs <= MAX_DELAY_MS)) {
    return `delayMs of an open TIMER is 0 to ${MAX_DELAY_MS}.`;
  }
  if (result !== undefined && result !== null && error !== null) return 'A step has a result or an error, not both.';
  return placeProblem(item);
}
