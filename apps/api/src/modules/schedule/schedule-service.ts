import { isName, type Issue, MAX_LISTED_RUNS, MAX_NAME, MusterError, nextRuns } from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import type { UuidSource } from '../../dispatch/ids.ts';
import type { ScheduleTarget } from '../../dispatch/statements/schedule-fire.ts';
import { encodeId } from '../../graphql/ids.ts';
import { keyedFingerprint } from '../../lib/fingerprint.ts';
import { issuesError } from '../../lib/issues.ts';
import type { Log } from '../../log.ts';
import { checkKey } from '../deployment/deployment-service.ts';
import { authorOf } from '../audit/audit-log.ts';
import { onBehalfOf, requirePermission, type Viewer } from '../viewer/viewer.ts';
import { readScheduleInput, type ScheduleInput } from './schedule-input.ts';
import { requireTarget } from './schedule-targets.ts';
import { type ScheduleRow, type TargetColumns, timingOf } from './schedule-row.ts';
import type { KeyRow, ScheduleContent, ScheduleStore, ScheduleWrite } from './schedule-store.ts';

export interface ScheduleServiceDeps {
  store: ScheduleStore;
  bus: Bus;
  ids: UuidSource;
  queue: { offer(ids: readonly string[]): void };
  /** What a run starts now. Errors: FORBIDDEN, NOT_FOUND, BAD_INPUT, NO_HEALTHY_VARIANT. */
  targetOf(target: TargetColumns, viewer: Viewer): Promise<ScheduleTarget>;
  /** Park time of executions of schedules that bring none; 0: for ever. */
  parkTtlSeconds: number;
  /** ms by the database's clock. */
  now(): number;
  /** Uniform in [0, 1). */
  random: () => number;
  idempotencyKey: Uint8Array;
  log: Log;
}

export interface CreateScheduleArgs extends ScheduleInput {
  name: string;
  paused?: boolean | null | undefined;
  idempotencyKey?: string | null | undefined;
}

export interface UpdateScheduleArgs extends Omit<ScheduleInput, 'name'> {
  name: string;
  expectedRevision: number;
  newName?: string | null | undefined;
}

export interface RunScheduleArgs {
  name: string;
  idempotencyKey?: string | null | undefined;
}

/** A run by hand: the schedule after it, and the raw id of what it started. */
export interface StartedSchedule {
  schedule: ScheduleRow;
  executionId: string;
}

export interface WrittenSchedule {
  schedule: ScheduleRow;
  warnings: string[];
}

/** A moment at which a schedule may run, for its time zone. */
export interface PlannedRun {
  at: Date;
  timeZone: string;
}

const NO_RUN = 'Nothing can be started now';

/** What users do to schedules, each with `schedule:{name}:write`, and the right to run what it runs where it will run in their name. Its runs are the leader's. */
export class ScheduleService {
  readonly #deps: ScheduleServiceDeps;

  constructor(deps: ScheduleServiceDeps) {
    this.#deps = deps;
  }

  /** Shape, permission, existence: names cannot be probed. Errors: FORBIDDEN, NOT_FOUND. */
  async #require(name: string, viewer: Viewer, field = 'name'): Promise<ScheduleRow> {
    requireWrite(name, viewer, field);
    const row = await this.#deps.store.byName(name);
    if (!row)
      throw new MusterError('NOT_FOUND', `There is no schedule ${JSON.stringify(name.slice(0, 130))}.`, { field });
    return row;
  }

  /**
   * Errors: FORBIDDEN; BAD_INPUT with every problem (ROUTING_INPUT_INVALID where only the routing input is wrong); CONFLICT for a name in use, or a key used
   * with another input.
   */
  async create(args: CreateScheduleArgs, viewer: Viewer, requestId: string): Promise<WrittenSchedule> {
    const { idempotencyKey, ...rest } = args;
    const key: KeyRow | null =
      idempotencyKey == null
        ? null
        : {
            principal: viewer.name,
            mutation: 'createSchedule',
            key: checkKey(idempotencyKey),
            hmac: keyedFingerprint(this.#deps.idempotencyKey, rest),
          };
    requireWrite(args.name, viewer, 'name');
    const replayed = key && (await this.#replay(key));
    if (replayed) return replayed;
    const content = await this.#read(args, null, viewer, requestId);
    if (args.paused) Object.assign(content, { nextAt: null, ...this.#pausedBy(viewer) });
    const write = this.#write('schedule.create', content, viewer, requestId);
    const made = await this.#deps.store.create(write, key);
    if (made !== 'key-used') return this.#written(made);
    const replay = key && (await this.#replay(key));
    if (replay) return replay;
    throw new MusterError('CONFLICT', 'The idempotency key is in use.', { field: 'idempotencyKey' });
  }

  /** What is absent stays; a paused schedule stays paused. Errors: as for `create`; NOT_FOUND; CONFLICT with `current`. */
  async update(args: UpdateScheduleArgs, viewer: Viewer, requestId: string): Promise<WrittenSchedule> {
    const before = await this.#expect(args.name, args.expectedRevision, viewer);
    const { newName, ...input } = args;
    if (newName != null) requireWrite(newName, viewer, 'newName');
    const content = await this.#read({ ...input, name: newName }, before, viewer, requestId);
    const write = this.#write('schedule.update', content, viewer, requestId);
    const made = await this.#deps.store.update(before, args.expectedRevision, write);
    return this.#written(made ?? (await this.#conflict(before)));
  }

  /** Nothing is started until it is resumed; a run that waits is given up. Pausing twice is fine. Errors: NOT_FOUND, CONFLICT. */
  async pause(
    name: string,
    expectedRevision: number | null,
    viewer: Viewer,
    requestId: string,
  ): Promise<WrittenSchedule> {
    const before = await this.#expect(name, expectedRevision, viewer);
    if (before.paused) return this.#written(before);
    const content = { nextAt: null, queuedAt: null, ...this.#pausedBy(viewer) };
    return this.#change('schedule.pause', before, content, viewer, requestId);
  }

  /** Goes on with the next run from now: what lay in the pause is not made up for. Errors: NOT_FOUND, CONFLICT; BAD_INPUT for an unreadable timing. */
  async resume(
    name: string,
    expectedRevision: number | null,
    viewer: Viewer,
    requestId: string,
  ): Promise<WrittenSchedule> {
    const before = await this.#expect(name, expectedRevision, viewer);
    requireTarget(before, viewer);
    if (!before.paused) return this.#written(before);
    const [next] = this.plannedRuns(before, 1);
    const content = { paused: false, pausedBy: null, pausedAt: null, nextAt: next?.at ?? null };
    return this.#change('schedule.resume', before, content, viewer, requestId);
  }

  /**
   * Starts one now, whatever its plan, its overlap policy and its pause say. Errors: NOT_FOUND, NO_HEALTHY_VARIANT; CONFLICT for a schedule that is being
   * changed, or a key used with another input.
   */
  async run(args: RunScheduleArgs, viewer: Viewer, requestId: string): Promise<StartedSchedule> {
    const { targetOf, ids, parkTtlSeconds, queue, bus, store, idempotencyKey: secret } = this.#deps;
    const { idempotencyKey, ...rest } = args;
    const key: KeyRow | null =
      idempotencyKey == null
        ? null
        : {
            principal: viewer.name,
            mutation: 'runSchedule',
            key: checkKey(idempotencyKey),
            hmac: keyedFingerprint(secret, rest),
          };
    requireWrite(args.name, viewer, 'name');
    const replayed = key && (await this.#replayRun(key));
    if (replayed) return replayed;
    // Changed at this very moment: once more with what it says now.
    for (let tries = 0; tries < 3; tries += 1) {
      const schedule = await this.#require(args.name, viewer);
      const target = await targetOf(schedule, viewer);
      const executionId = ids.next();
      const start = {
        schedule,
        target,
        executionId,
        defaultParkTtlSeconds: parkTtlSeconds,
        author: authorOf(viewer, requestId),
      };
      const made = await store.run(start, key);
      if (made === 'key-used') break;
      if (made === 'changed') continue;
      queue.offer([executionId]);
      bus.publish('execution', { id: executionId, revision: 1 });
      return { schedule: (await store.byIds([schedule.id])).get(schedule.id) ?? schedule, executionId };
    }
    const replay = key && (await this.#replayRun(key));
    if (replay) return replay;
    throw new MusterError('CONFLICT', `${NO_RUN}: the schedule is being changed. Try again.`, { field: 'name' });
  }

  /** Executions that it started go on. Errors: NOT_FOUND; CONFLICT as for `update`. */
  async delete(name: string, expectedRevision: number, viewer: Viewer, requestId: string): Promise<void> {
    const before = await this.#expect(name, expectedRevision, viewer);
    if (!(await this.#deps.store.delete(before, expectedRevision, authorOf(viewer, requestId))))
      await this.#conflict(before);
  }

  /** The next runs from now, as if it were not paused; at most 100. Errors: BAD_INPUT for an unreadable timing. */
  plannedRuns(
    row: Pick<ScheduleRow, 'kind' | 'cron' | 'timeZone' | 'intervalSeconds' | 'anchorAt' | 'onceAt'>,
    count: number,
  ): PlannedRun[] {
    if (count < 0 || count > MAX_LISTED_RUNS)
      throw new MusterError('BAD_INPUT', `count must be from 0 to ${MAX_LISTED_RUNS}.`, { field: 'count' });
    try {
      const runs = nextRuns(timingOf(row), this.#deps.now(), count);
      return runs.map((at) => ({ at: new Date(at), timeZone: row.timeZone }));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new MusterError('BAD_INPUT', `The timing cannot be read any more: ${error.message}.`, { cause: error });
    }
  }

  /** When such a timing would run. Nothing is stored. Errors: BAD_INPUT with every problem. */
  preview(
    input: Pick<ScheduleInput, 'cron' | 'intervalSeconds' | 'startAt' | 'at' | 'timeZone'>,
    count: number,
  ): PlannedRun[] {
    const issues: Issue[] = [];
    const { now } = this.#deps;
    const start = { before: null, now: now(), random: () => 0, namePath: 'name' };
    const { content } = readScheduleInput({ ...input, workflow: 'x' }, issues, start);
    refuse(issues);
    return this.plannedRuns({ ...EMPTY_TIMING, ...content }, count);
  }

  async #read(
    input: ScheduleInput,
    before: ScheduleRow | null,
    viewer: Viewer,
    requestId: string,
  ): Promise<ScheduleContent> {
    const { now, random, log } = this.#deps;
    const issues: Issue[] = [];
    const options = { before, now: now(), random, namePath: before === null ? 'name' : 'newName' };
    const { content, routing } = readScheduleInput(input, issues, options);
    requireTarget({ workflow: null, deployment: null, ...before, ...content }, viewer);
    issues.push(...(await this.#targetIssues(content, before, issues, viewer)));
    refuse(issues);
    if (routing !== undefined) content.routingInput = routing;
    if (routing) log.info({ requestId, routingKeys: Object.keys(routing) }, 'routing input received');
    return content;
  }

  /** A target that is given must be there now; that nothing of it is healthy now is no problem. */
  async #targetIssues(
    content: ScheduleContent,
    before: ScheduleRow | null,
    found: readonly Issue[],
    viewer: Viewer,
  ): Promise<Issue[]> {
    const given = content.workflow != null || content.deployment != null || content.versionId != null;
    const known = (path: string): boolean => found.some((issue) => issue.path === path);
    if (!given || known('workflow') || known('deployment') || known('versionId')) return [];
    const { workflow = null, deployment = null, versionId = null } = { ...before, ...content };
    try {
      await this.#deps.targetOf({ workflow, deployment, versionId, sessionKey: null }, viewer);
      return [];
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      if (error.code === 'NO_HEALTHY_VARIANT') return [];
      const path = error.field ?? (deployment === null ? 'workflow' : 'deployment');
      const code =
        path === 'versionId' ? 'UNKNOWN_VERSION' : deployment === null ? 'UNKNOWN_WORKFLOW' : 'UNKNOWN_DEPLOYMENT';
      return [{ path, code, message: error.message }];
    }
  }

  #write(action: ScheduleWrite['action'], content: ScheduleContent, viewer: Viewer, requestId: string): ScheduleWrite {
    return { action, content, author: authorOf(viewer, requestId) };
  }

  async #change(
    action: ScheduleWrite['action'],
    before: ScheduleRow,
    content: ScheduleContent,
    viewer: Viewer,
    requestId: string,
  ): Promise<WrittenSchedule> {
    const made = await this.#deps.store.update(
      before,
      before.revision,
      this.#write(action, content, viewer, requestId),
    );
    return this.#written(made ?? (await this.#conflict(before)));
  }

  #pausedBy(viewer: Viewer): ScheduleContent {
    return { paused: true, pausedBy: viewer.name, pausedAt: new Date(this.#deps.now()) };
  }

  /** `expectedRevision` null: whatever it is. */
  async #expect(name: string, expectedRevision: number | null, viewer: Viewer): Promise<ScheduleRow> {
    const row = await this.#require(name, viewer);
    if (expectedRevision !== null && row.revision !== expectedRevision) throw revisionConflict(row);
    return row;
  }

  /** The guarded write found another revision: says which. Errors: always. */
  async #conflict(known: ScheduleRow): Promise<never> {
    const now = (await this.#deps.store.byIds([known.id])).get(known.id);
    throw now
      ? revisionConflict(now)
      : new MusterError('NOT_FOUND', `There is no schedule ${known.name} any more.`, { field: 'name' });
  }

  async #written(schedule: ScheduleRow): Promise<WrittenSchedule> {
    return { schedule, warnings: await this.#warnings(schedule) };
  }

  /** What is odd about it, though legal. */
  async #warnings(schedule: ScheduleRow): Promise<string[]> {
    const warnings: string[] = [];
    try {
      await this.#deps.targetOf(schedule, onBehalfOf(schedule.updatedBy));
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      warnings.push(`${NO_RUN}: ${error.message}`);
    }
    if (!schedule.paused && schedule.nextAt === null) warnings.push('It has no further run.');
    return warnings;
  }

  async #replay(key: KeyRow): Promise<WrittenSchedule | null> {
    const used = await this.#deps.store.usedKey(key);
    if (!used) return null;
    refuseOther(used, key);
    const schedule = (await this.#deps.store.byIds([used.answer.id])).get(used.answer.id);
    if (!schedule) {
      throw new MusterError('CONFLICT', `accepted as ${encodeId('sd', used.answer.id)}, since deleted`, {
        field: 'idempotencyKey',
      });
    }
    return this.#written(schedule);
  }

  async #replayRun(key: KeyRow): Promise<StartedSchedule | null> {
    const used = await this.#deps.store.usedRunKey(key);
    if (!used) return null;
    refuseOther(used, key);
    const { scheduleId, executionId, exists } = used;
    const schedule = (await this.#deps.store.byIds([scheduleId])).get(scheduleId);
    if (exists && schedule) return { schedule, executionId };
    const what = exists ? `whose schedule ${encodeId('sd', scheduleId)} was deleted since` : 'since deleted';
    throw new MusterError('CONFLICT', `accepted as ${encodeId('ex', executionId)}, ${what}`, {
      field: 'idempotencyKey',
    });
  }
}

/** A name that none can have is for the check of shapes. Errors: FORBIDDEN. */
function requireWrite(name: string, viewer: Viewer, field: string): void {
  if (isName(name, MAX_NAME)) requirePermission(viewer, `schedule:${name}:write`, field);
}

const EMPTY_TIMING = {
  kind: 'CRON',
  cron: null,
  timeZone: 'UTC',
  intervalSeconds: null,
  anchorAt: null,
  onceAt: null,
} as const;

/** Errors: CONFLICT where the key was spent on another input. */
function refuseOther(used: { hmac: Uint8Array }, key: KeyRow): void {
  if (Buffer.from(used.hmac).equals(key.hmac)) return;
  throw new MusterError('CONFLICT', 'The idempotency key was used with another input.', { field: 'idempotencyKey' });
}

/** Errors: for any issue, with all of them. */
function refuse(issues: readonly Issue[]): void {
  if (issues.length === 0) return;
  const routingAlone = issues.every(({ path }) => path === 'routingInput');
  throw issuesError(routingAlone ? 'ROUTING_INPUT_INVALID' : 'BAD_INPUT', issues);
}

function revisionConflict(current: ScheduleRow): MusterError {
  const { revision, updatedBy, updatedAt } = current;
  return new MusterError(
    'CONFLICT',
    `${current.name} is at revision ${revision} now, changed by ${updatedBy}. Read it again and repeat the change on it.`,
    {
      field: 'expectedRevision',
      details: { current: { revision, updatedBy, updatedAt: updatedAt.toISOString() } },
    },
  );
}
