import { describe, expect, it } from 'vitest';
import { connectionOf, type CursorKey, pageOf } from './connection.ts';
import type { Context } from './context.ts';

const context = (): Context => ({ nodes: 0 }) as Context;
const none = (): Promise<{ count: number; exact: boolean }> => Promise.resolve({ count: 0, exact: true });
const cursorOf = (order: string, keys: CursorKey[]): string =>
  connectionOf(pageOf({}, order, ['text', 'uuid'], context()), order, ['item'], false, () => keys, none).edges[0]
    ?.cursor ?? '';
const id = '0193e7a1b2c37d4e8f90a1b2c3d4e5f6';

describe('a cursor', () => {
  it.each(['Ωμέγα', '工人', '𝒳', 'ﬀ', 'a"b\\c', ' '])(
    'carries %j there and back, in letters that any client can keep',
    (name) => {
      const cursor = cursorOf('name', [name, id]);
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(pageOf({ after: cursor }, 'name', ['text', 'uuid'], context()).after).toEqual([name, id]);
      expect(pageOf({ last: 5, before: cursor }, 'name', ['text', 'uuid'], context()).before).toEqual([name, id]);
    },
  );

  it.each([
    ['of another order', () => cursorOf('load', ['x', id])],
    ['with a key less', () => cursorOf('name', ['x'])],
    ['with a key of another kind', () => cursorOf('name', ['x', 'no uuid'])],
    ['in Latin letters beyond ASCII', () => 'é'],
    ['that is no text of ours', () => 'AAAA'],
    ['of any length', () => 'A'.repeat(5_000)],
  ])('%s is refused by name', (_what, cursor) => {
    expect(() => pageOf({ after: cursor() }, 'name', ['text', 'uuid'], context())).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', field: 'after' }),
    );
  });
});
