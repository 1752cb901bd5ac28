import {
  checkCatchUpLimit,
  checkName,
  checkParkTtl,
  checkPriority,
  checkRoutingInput,
  checkSessionKey,
  checkText,
  type Issue,
  type JsonObject,
  type JsonValue,
  MAX_NAME,
  parseWorkflowRef,
} from '@muster/core';
import { decodeInt } from '../../graphql/ids.ts';
import type { ScheduleOverlap, ScheduleRow } from './schedule-row.ts';
import type { ScheduleContent } from './schedule-store.ts';
import { readTimingInput, type TimingOptions } from './timing-input.ts';

type Given<T> = T | null | undefined;

/** What a caller says about a schedule; absent: as it is, or the default. */
export interface ScheduleInput {
  name?: Given<string>;
  description?: Given<string>;
  cron?: Given<string>;
  intervalSeconds?: Given<number>;
  startAt?: Given<Date>;
  at?: Given<Date>;
  timeZone?: Given<string>;
  workflow?: Given<string>;
  versionId?: Given<string>;
  deployment?: Given<string>;
  sessionKey?: Given<string>;
  input?: JsonValue | undefined;
  routingInput?: JsonValue | undefined;
  priority?: Given<number>;
  parkTtlSeconds?: Given<number>;
  overlap?: Given<ScheduleOverlap>;
  catchUpLimit?: Given<number>;
}

export interface ReadOptions extends TimingOptions {
  /** Path of the name, which a change calls otherwise. */
  namePath: string;
}

const MAX_DESCRIPTION = 4_096;
const DEFAULTS = { overlap: 'SKIP', catchUpLimit: 1, priority: 0 } as const;

/**
 * Reads what shall be stored; problems go to `issues` with their paths, all of them. Targets are not looked up here. `routing` tells the routing
 * input alone: undefined keeps it, null clears it (and no issue about it names a key or a value).
 */
export function readScheduleInput(
  input: ScheduleInput,
  issues: Issue[],
  { before, now, random, namePath }: ReadOptions,
): { content: ScheduleContent; routing: JsonObject | null | undefined } {
  const content: ScheduleContent = {};
  if (input.name != null) {
    issues.push(...checkName(input.name, namePath, 'the name of a schedule', MAX_NAME));
    content.name = input.name;
  }
  readTexts(input, issues, content);
  readTarget(input, issues, content, before);
  readTimingInput(input, issues, content, { before, now, random });
  readNumbers(input, issues, content, before === null);
  if (input.input !== undefined) content.input = input.input;
  const routing = readRouting(input.routingInput, issues);
  return { content, routing };
}

function readTexts(input: ScheduleInput, issues: Issue[], content: ScheduleContent): void {
  if (input.description !== undefined) {
    if (input.description !== null) {
      issues.push(...checkText(input.description, 'description', 'the description', MAX_DESCRIPTION));
    }
    content.description = input.description;
  }
  if (input.sessionKey !== undefined) {
    if (input.sessionKey !== null) issues.push(...checkSessionKey(input.sessionKey, 'sessionKey'));
    content.sessionKey = input.sessionKey;
  }
}

/** A target that is given replaces the other kind, and the version of another workflow does not stay. */
function readTarget(input: ScheduleInput, issues: Issue[], content: ScheduleContent, before: ScheduleRow | null): void {
  const { deployment } = input;
  const parsed = input.workflow == null ? null : parseWorkflowRef(input.workflow);
  const workflow = parsed && `${parsed.namespace}/${parsed.name}`;
  if (input.workflow != null && parsed === null) {
    issues.push({
      path: 'workflow',
      code: 'UNKNOWN_WORKFLOW',
      message: 'workflow is the namespace/name of a workflow',
    });
  } else if (workflow != null && deployment != null) {
    issues.push({ path: 'deployment', code: 'TARGET', message: 'give a workflow or a deployment, not both' });
  } else if (before === null && workflow == null && deployment == null) {
    issues.push({ path: 'workflow', code: 'TARGET', message: 'give a workflow or a deployment' });
  }
  if (workflow != null && workflow !== before?.workflow) {
    Object.assign(content, { workflow, deployment: null, versionId: null });
  }
  if (deployment != null && deployment !== before?.deployment) {
    Object.assign(content, { deployment, workflow: null, versionId: null });
  }
  readVersion(input, issues, content);
  issues.push(...misfits({ ...before, ...content }));
}

function readVersion(input: ScheduleInput, issues: Issue[], content: ScheduleContent): void {
  if (input.versionId === undefined) return;
  const id = input.versionId === null ? null : decodeInt('wv', input.versionId);
  if (input.versionId !== null && id === null) {
    issues.push({ path: 'versionId', code: 'UNKNOWN_VERSION', message: 'versionId is not the id of a version' });
  }
  content.versionId = id;
}

/** What fits one kind of target only. */
function misfits(after: ScheduleContent): Issue[] {
  const issues: Issue[] = [];
  if (after.deployment != null && after.versionId != null) {
    const message = 'the versions of a deployment are those of its variants; leave versionId out';
    issues.push({ path: 'versionId', code: 'TARGET', message });
  }
  if (after.workflow != null && after.sessionKey != null) {
    const message = 'a session key picks a variant; it takes a deployment';
    issues.push({ path: 'sessionKey', code: 'TARGET', message });
  }
  return issues;
}

function readNumbers(input: ScheduleInput, issues: Issue[], content: ScheduleContent, fresh: boolean): void {
  if (input.priority != null || fresh) {
    content.priority = input.priority ?? DEFAULTS.priority;
    issues.push(...checkPriority(content.priority, 'priority'));
  }
  if (input.parkTtlSeconds !== undefined) {
    issues.push(...checkParkTtl(input.parkTtlSeconds, 'parkTtlSeconds'));
    content.parkTtlSeconds = input.parkTtlSeconds;
  }
  if (input.overlap != null || fresh) content.overlap = input.overlap ?? DEFAULTS.overlap;
  if (input.catchUpLimit != null || fresh) {
    content.catchUpLimit = input.catchUpLimit ?? DEFAULTS.catchUpLimit;
    issues.push(...checkCatchUpLimit(content.catchUpLimit, 'catchUpLimit'));
  }
}

function readRouting(value: JsonValue | undefined, issues: Issue[]): JsonObject | null | undefined {
  if (value === undefined || value === null) return undefined;
  const checked = checkRoutingInput(value);
  if (checked.accept) return checked.value;
  issues.push({ ...checked.issue, path: 'routingInput' });
  return undefined;
}
