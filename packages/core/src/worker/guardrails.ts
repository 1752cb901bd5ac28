import type { Issue } from '../lib/errors.ts';
import { hasLoneSurrogate } from '../lib/text.ts';
import { checkName, isName, MAX_LABEL_KEY, MAX_SHORT_NAME, quote } from './names.ts';

export const MAX_LABELS = 64;
export const MAX_LABEL_VALUE = 256;
export const MAX_METRICS = 64;
/** Of these, so many may come from a worker's own provider. */
export const MAX_PROVIDER_METRICS = 32;
export const MAX_METRIC_KEY = 64;
/** A snapshot older than this counts as missing (ruling 26). */
export const METRICS_MAX_AGE_MS = 90_000;
export const MAX_METADATA = 64;
export const MAX_METADATA_VALUE = 256;
export const MAX_CAPACITY = 1_000_000;
export const MAX_PRIORITY = 1_000;
export const MAX_PARK_TTL_SECONDS = 31_536_000;

/** Keys that the server and the SDK give out; nobody else may assert them. */
export const RESERVED_PREFIX = 'flux.';

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

/** A result of a check: what is usable, and every problem. `value` is complete only where `issues` is empty. */
export interface Checked<T> {
  readonly value: T;
  readonly issues: Issue[];
}

/**
 * The labels of a worker or a variant (ruling 24): at most 64, keys of the usual shape up to 128, unique, values up to 256 characters.
 * `reserved: 'refuse'` refuses keys under `flux.`, as for everything that a worker says about itself.
 */
export function checkLabels(
  labels: readonly KeyValue[],
  path: string,
  reserved: 'refuse' | 'allow',
): Checked<Map<string, string>> {
  const issues: Issue[] = [];
  const value = new Map<string, string>();
  if (labels.length > MAX_LABELS) {
    issues.push({ path, code: 'TOO_MANY_LABELS', message: `at most ${MAX_LABELS} labels, not ${labels.length}` });
  }
  for (const [index, label] of labels.slice(0, MAX_LABELS).entries()) {
    const at = `${path}.${index}`;
    issues.push(...checkName(label.key, `${at}.key`, 'a label key', MAX_LABEL_KEY));
    if (reserved === 'refuse' && label.key.startsWith(RESERVED_PREFIX)) {
      const message = `keys under "${RESERVED_PREFIX}" are given by the server, not ${quote(label.key)}`;
      issues.push({ path: `${at}.key`, code: 'LABEL_RESERVED', message });
    }
    if (value.has(label.key)) {
      issues.push({ path: `${at}.key`, code: 'LABEL_DUPLICATE', message: `${quote(label.key)} is given twice` });
    }
    issues.push(...checkText(label.value, `${at}.value`, `the value of ${quote(label.key)}`, MAX_LABEL_VALUE));
    value.set(label.key, label.value);
  }
  return { value, issues };
}

/**
 * A metrics snapshot (ruling 26): an object of at most `limit` finite numbers with non-empty keys up to 64 characters.
 * One wrong entry spoils the whole payload: then the answer is the first problem as a text, and the last snapshot stays.
 */
export function checkMetrics(payload: unknown, limit: number = MAX_METRICS): Map<string, number> | string {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    return 'metrics must be an object of numbers';
  }
  const entries = Object.entries(payload);
  if (entries.length > limit) return `at most ${limit} metrics, not ${entries.length}`;
  const metrics = new Map<string, number>();
  for (const [key, value] of entries) {
    if (key === '' || key.length > MAX_METRIC_KEY || !isStorable(key)) {
      return `a metric key has 1 to ${MAX_METRIC_KEY} characters, not ${quote(key)}`;
    }
    if (typeof value !== 'number' || !Number.isFinite(value)) return `metric ${quote(key)} is not a finite number`;
    metrics.set(key, value);
  }
  return metrics;
}

/** A provider's metrics without the keys that only the SDK may set. */
export function withoutReserved(metrics: ReadonlyMap<string, number>): Map<string, number> {
  return new Map([...metrics].filter(([key]) => !key.startsWith(RESERVED_PREFIX)));
}

export type MetadataValue = string | number;

/**
 * What a worker's metadata becomes when an operator writes `patch` (ruling 27): merged into what is there, or instead of it.
 * At most 64 keys afterwards, keys of the usual shape up to 64; a value is a text up to 256 characters, a finite number, or a boolean, which
 * is kept as `"true"` or `"false"`.
 */
export function mergeMetadata(
  current: ReadonlyMap<string, MetadataValue>,
  patch: unknown,
  replace: boolean,
  path: string,
): Checked<Map<string, MetadataValue>> {
  const value = new Map<string, MetadataValue>(replace ? [] : current);
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    return { value, issues: [{ path, code: 'METADATA_SHAPE', message: 'metadata must be an object' }] };
  }
  const issues: Issue[] = [];
  for (const [key, raw] of Object.entries(patch)) {
    const at = `${path}.${key}`;
    issues.push(...checkName(key, at, 'a metadata key', MAX_SHORT_NAME));
    if (typeof raw === 'boolean') value.set(key, String(raw));
    else if (typeof raw === 'number' && Number.isFinite(raw)) value.set(key, raw);
    else if (typeof raw === 'string') {
      issues.push(...checkText(raw, at, `the value of ${quote(key)}`, MAX_METADATA_VALUE));
      value.set(key, raw);
    } else {
      const message = `the value of ${quote(key)} must be a text, a finite number or a boolean`;
      issues.push({ path: at, code: 'METADATA_VALUE', message });
    }
  }
  if (value.size > MAX_METADATA) {
    const message = `a worker has at most ${MAX_METADATA} metadata keys, this would make ${value.size}`;
    issues.push({ path, code: 'TOO_MUCH_METADATA', message });
  }
  return { value, issues };
}

/** Whether a key may name metadata: for reads and deletes, where a wrong key is simply not there. */
export function isMetadataKey(key: string): boolean {
  return isName(key, MAX_SHORT_NAME);
}

/** A worker's capacity: a whole number from 1, or null for no limit. */
export function checkCapacity(capacity: number | null | undefined, path: string): Issue[] {
  return capacity === null || capacity === undefined ? [] : checkInteger(capacity, path, 'capacity', 1, MAX_CAPACITY);
}

/** An execution's priority: −1,000 … 1,000, higher first. */
export function checkPriority(priority: number, path: string): Issue[] {
  return checkInteger(priority, path, 'priority', -MAX_PRIORITY, MAX_PRIORITY);
}

/** How long an execution may stay parked, in seconds; 0 = for ever, at most a year. */
export function checkParkTtl(seconds: number | null | undefined, path: string): Issue[] {
  return seconds === null || seconds === undefined
    ? []
    : checkInteger(seconds, path, 'the park TTL', 0, MAX_PARK_TTL_SECONDS);
}

/** The issues of a number that must be whole and within bounds, both inclusive. */
export function checkInteger(value: unknown, path: string, what: string, low: number, high: number): Issue[] {
  if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return [];
  const was = typeof value === 'number' ? String(value) : quote(String(value));
  const message = `${what} must be a whole number from ${low} to ${high}, not ${was}`;
  return [{ path, code: 'NUMBER_RANGE', message }];
}

/** The issues of a text of at most `limit` characters (code points) that the database can hold. */
export function checkText(text: string, path: string, what: string, limit: number): Issue[] {
  const issues: Issue[] = [];
  if (!isStorable(text)) {
    const message = `${what} has a NUL character or half of a surrogate pair`;
    issues.push({ path, code: 'TEXT_ILLEGAL', message });
  }
  if (text.length > limit && [...text].length > limit) {
    issues.push({ path, code: 'TEXT_TOO_LONG', message: `${what} has at most ${limit} characters` });
  }
  return issues;
}

function isStorable(text: string): boolean {
  return !text.includes('\u0000') && !hasLoneSurrogate(text);
}
