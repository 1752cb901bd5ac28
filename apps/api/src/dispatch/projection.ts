import type { DispatchRules, JsonObject, JsonValue } from '@muster/core';

/** The paths that a version's specs read. */
export interface ReferencedPaths {
  readonly input: readonly string[];
  readonly routing: readonly string[];
}

/**
 * Every path that a stored spec may read: whatever stands as text under `$input`, `input`, `$routing_input` or `routing_input`. A path too
 * many does no harm, so the specs need no trust.
 */
export function referencedPaths(...specs: readonly unknown[]): ReferencedPaths {
  const input = new Set<string>();
  const routing = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(visit);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (typeof inner !== 'string') visit(inner);
        else if (key === '$input' || key === 'input') input.add(inner);
        else if (key === '$routing_input' || key === 'routing_input') routing.add(inner);
      }
    }
  };
  specs.forEach(visit);
  return { input: [...input].toSorted(), routing: [...routing].toSorted() };
}

const ABSENT = Symbol('absent');

/** Descends through objects only; an index is not a step. */
function valueAt(root: JsonValue | undefined, path: string): JsonValue | typeof ABSENT {
  let value: JsonValue | undefined = root;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, step))
      return ABSENT;
    value = value[step];
  }
  return value === undefined ? ABSENT : value;
}

/**
 * The part of an input that its version's policies can see: what the dispatcher keeps of it in memory. Every referenced path resolves in
 * it exactly as in the whole.
 */
export function project(root: JsonValue | undefined, paths: readonly string[]): JsonObject {
  const result: JsonObject = {};
  // Shorter paths first: a path inside of an object that is kept anyway adds nothing.
  for (const path of paths) {
    const value = valueAt(root, path);
    if (value === ABSENT || valueAt(result, path) !== ABSENT) continue;
    let target = result;
    const steps = path.split('.');
    for (const step of steps.slice(0, -1)) {
      const inner: JsonObject = Object.hasOwn(target, step) ? (target[step] as JsonObject) : {};
      define(target, step, inner);
      target = inner;
    }
    define(target, steps.at(-1) ?? '', value);
  }
  return result;
}

/** Also for keys such as `__proto__`. */
function define(target: JsonObject, key: string, value: JsonValue): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The values at these paths as one text: equal texts mean that the same terms see the same values. */
export function resolvedText(root: JsonValue | undefined, paths: readonly string[]): string {
  return JSON.stringify(
    paths.map((path) => {
      const value = valueAt(root, path);
      return value === ABSENT ? [] : [value];
    }),
  );
}

/** The paths of a version: those that decide whether a worker can take it, and all of them. */
export interface VersionPaths {
  readonly hard: ReferencedPaths;
  readonly all: ReferencedPaths;
}

export function versionPaths(rules: DispatchRules): VersionPaths {
  return { hard: referencedPaths(rules.affinity), all: referencedPaths(rules.affinity, rules.policy) };
}
