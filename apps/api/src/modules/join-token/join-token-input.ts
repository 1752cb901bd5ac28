import {
  checkInteger,
  checkLabels,
  checkName,
  checkText,
  isServiceName,
  type Issue,
  type KeyValue,
  MAX_NAME,
  MAX_SHORT_NAME,
  quote,
} from '@muster/core';
import { issuesError } from '../../lib/issues.ts';

/** What a join token binds a worker to, and grants it; null or empty: whatever the worker says. */
export interface Bindings {
  /** The one name it may take. */
  readonly worker: string | null;
  readonly role: string | null;
  /** Where there are any, they are all its labels: it cannot say others. */
  readonly labels: Readonly<Record<string, string>>;
  /** Each becomes its label `flux.service.<name>` (ruling 24). */
  readonly services: readonly string[];
  /** Workflows that it may register, as `namespace:name`, each of them a name or `*`. */
  readonly registers: readonly string[];
}

/** A join token as it was asked for. */
export interface JoinTokenInput {
  readonly description?: string | null | undefined;
  readonly ttlSeconds: number;
  readonly worker?: string | null | undefined;
  readonly role?: string | null | undefined;
  readonly labels: readonly KeyValue[];
  readonly services: readonly string[];
  readonly registers: readonly string[];
}

/** The longest life of a join token: 30 days. */
const MAX_JOIN_TTL_SECONDS = 2_592_000;
const MIN_JOIN_TTL_SECONDS = 10;
const MAX_DESCRIPTION = 256;
const MAX_GRANTS = 64;

/** Errors: BAD_INPUT with every problem. */
export function checkJoinToken(input: JoinTokenInput): Bindings & { description: string | null } {
  const labels = checkLabels(input.labels, 'labels', 'refuse');
  const { worker = null, role = null, description = null, services, registers, ttlSeconds } = input;
  const issues = [
    ...checkInteger(ttlSeconds, 'ttlSeconds', 'the life of a join token', MIN_JOIN_TTL_SECONDS, MAX_JOIN_TTL_SECONDS),
    ...(description === null ? [] : checkText(description, 'description', 'a description', MAX_DESCRIPTION)),
    ...(worker === null ? [] : checkName(worker, 'worker', 'a worker name', MAX_NAME)),
    ...(role === null ? [] : checkName(role, 'role', 'a role', MAX_NAME)),
    ...labels.issues,
    ...checkList(services, 'services', checkService),
    ...checkList(registers, 'registers', checkPattern),
  ];
  if (issues.length > 0) throw issuesError('BAD_INPUT', issues);
  return {
    description,
    worker,
    role,
    labels: Object.fromEntries(labels.value),
    services: [...new Set(services)],
    registers: [...new Set(registers)],
  };
}

/** The names that a worker joins under. Errors: BAD_INPUT with every problem. */
export function checkJoinNames(names: { name: string | null; role: string | null }): void {
  const issues = [
    ...(names.name === null ? [] : checkName(names.name, 'name', 'a worker name', MAX_NAME)),
    ...(names.role === null ? [] : checkName(names.role, 'role', 'a role', MAX_NAME)),
  ];
  if (issues.length > 0) throw issuesError('BAD_INPUT', issues);
}

/** The permissions that a pattern of `registers` stands for. */
export function registerPermission(pattern: string): string {
  return `workflow:${pattern}:register`;
}

function checkList(
  items: readonly string[],
  path: string,
  check: (item: string, path: string) => readonly Issue[],
): Issue[] {
  if (items.length > MAX_GRANTS)
    return [{ path, code: 'LIST_TOO_LONG', message: `at most ${MAX_GRANTS} ${path}, not ${items.length}` }];
  return items.flatMap((item, index) => check(item, `${path}.${index}`));
}

function checkService(service: string, path: string): Issue[] {
  if (isServiceName(service)) return [];
  const message = `a service is 1 to 32 lower case letters, digits and single "-", not ${quote(service)}`;
  return [{ path, code: 'SERVICE_SHAPE', message }];
}

function checkPattern(pattern: string, path: string): Issue[] {
  const parts = pattern.split(':');
  const fits =
    parts.length === 2 &&
    parts.every((part) => part === '*' || checkName(part, path, 'a name', MAX_SHORT_NAME).length === 0);
  if (fits) return [];
  const message = `workflows are given as namespace:name, with * for any, e.g. "ml:*", not ${quote(pattern)}`;
  return [{ path, code: 'PATTERN_SHAPE', message }];
}
