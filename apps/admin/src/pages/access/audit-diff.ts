import { isRecord } from '../../api/client.ts';

/** One value that a change has touched. null: it was, or is, not there. */
export interface AuditChange {
  path: string;
  before: string | null;
  after: string | null;
}

/** What differs between an entry's before and after, member by member; lists and values are compared as a whole. */
export function auditChanges(before: unknown, after: unknown, path = ''): AuditChange[] {
  if (isRecord(before) || isRecord(after)) {
    const left = isRecord(before) ? before : {};
    const right = isRecord(after) ? after : {};
    if ((isRecord(before) || before == null) && (isRecord(after) || after == null)) {
      const names = new Set([...Object.keys(left), ...Object.keys(right)]);
      return [...names].flatMap((name) =>
        auditChanges(
          Object.hasOwn(left, name) ? left[name] : undefined,
          Object.hasOwn(right, name) ? right[name] : undefined,
          path === '' ? name : `${path}.${name}`,
        ),
      );
    }
  }
  const from = textOf(before);
  const to = textOf(after);
  return from === to ? [] : [{ path, before: from, after: to }];
}

function textOf(value: unknown): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
