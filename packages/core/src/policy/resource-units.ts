const UNIT_POWER: Readonly<Record<string, number>> = { K: 1, M: 2, G: 3, T: 4, P: 5 };
const MEMORY_TEXT = /^(\d+(?:\.\d+)?)(?: ?([KMGTP])i?)?$/;
const PACKAGE_TEXT =
  /^ *([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?) *(?:(==|>=) *([A-Za-z0-9][A-Za-z0-9._+!*-]*) *)?$/;

/**
 * An amount of memory in bytes (ruling 16): a number of bytes, digits, or a decimal number with K M G T P or Ki Mi Gi Ti Pi,
 * all binary, fractions of a byte cut off. null where it is none of these.
 */
export function parseMemory(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : null;
  if (typeof value !== 'string') return null;
  const match = MEMORY_TEXT.exec(value);
  if (match === null) return null;
  const [, digits = '', unit] = match;
  if (unit === undefined && digits.includes('.')) return null;
  const bytes = Math.trunc(Number(digits) * 1024 ** (unit === undefined ? 0 : (UNIT_POWER[unit] ?? 0)));
  return Number.isFinite(bytes) ? bytes : null;
}

/** A wanted package. `name` is as compared, in lower case (`-` and `_` differ); no operator means any version. */
export interface PackageRequirement {
  readonly name: string;
  readonly operator: '==' | '>=' | null;
  readonly version: string | null;
}

/** Reads `name`, `name==v` or `name>=v`, spaces around the operator allowed (ruling 16); null where it is none of these. */
export function parsePackageRequirement(value: unknown): PackageRequirement | null {
  if (typeof value !== 'string') return null;
  const match = PACKAGE_TEXT.exec(value);
  if (match === null) return null;
  const [, name = '', operator, version] = match;
  return {
    name: name.toLowerCase(),
    operator: operator === '==' || operator === '>=' ? operator : null,
    version: version ?? null,
  };
}
