import { describe, expect, it } from 'vitest';
import { applyChange, applyToPage, type Change, emptyList } from './live-list.ts';

interface Row {
  id: string;
  load: number;
}

const idOf = (row: Row) => row.id;
const row = (id: string, load = 0): Row => ({ id, load });
const change = (kind: Change<Row>['kind'], sequence: number, more: Partial<Change<Row>> = {}): Change<Row> => ({
  kind,
  sequence,
  complete: true,
  items: [],
  removed: [],
  ...more,
});
const applied = (...changes: Change<Row>[]) =>
  changes.reduce((list, next) => applyChange(list, next, idOf), emptyList<Row>());
const ids = (rows: readonly Row[]) => rows.map(idOf);

describe('a live collection', () => {
  it('shows a snapshot that comes in parts only when it is whole', () => {
    const first = change('SNAPSHOT', 1, { items: [row('a')], complete: false });
    expect(applied(first).items).toEqual([]);
    expect(ids(applied(first, change('SNAPSHOT', 2, { items: [row('b')] })).items)).toEqual(['a', 'b']);
  });

  it('adds, changes in place and removes', () => {
    const list = applied(
      change('SNAPSHOT', 1, { items: [row('a'), row('b')] }),
      change('UPDATED', 2, { items: [row('a', 3)] }),
      change('ADDED', 3, { items: [row('c')] }),
      change('REMOVED', 4, { removed: ['b'] }),
    );
    expect(list.items).toEqual([row('a', 3), row('c')]);
  });

  it('drops a change that is not newer than what is shown', () => {
    const list = applied(
      change('SNAPSHOT', 5, { items: [row('a', 5)] }),
      change('UPDATED', 5, { items: [row('a', 4)] }),
    );
    expect(list.items).toEqual([row('a', 5)]);
  });

  it('keeps the old rows through a resync, and takes the new snapshot with what came in between', () => {
    const during = applied(
      change('SNAPSHOT', 1, { items: [row('old')] }),
      change('RESYNC', 2),
      change('SNAPSHOT', 3, { items: [row('a')], complete: false }),
      change('UPDATED', 4, { items: [row('a', 7)] }),
    );
    expect(ids(during.items)).toContain('old');
    expect(applyChange(during, change('SNAPSHOT', 5, { items: [row('b')] }), idOf).items).toEqual([
      row('a', 7),
      row('b'),
    ]);
  });

  it('forgets a snapshot that a reconnect cut off', () => {
    const list = applied(
      change('SNAPSHOT', 1, { items: [row('gone')], complete: false }),
      change('SNAPSHOT', 1, { items: [row('a')], complete: false }),
      change('SNAPSHOT', 2, { items: [row('b')] }),
    );
    expect(ids(list.items)).toEqual(['a', 'b']);
  });
});

describe('a page of a longer list', () => {
  const byId = (a: Row, b: Row) => (a.id < b.id ? 1 : -1);
  const page = { rows: [row('d'), row('c')], size: 2, first: true };
  const apply = (where: typeof page, event: Change<Row>) => applyToPage(where, event, idOf, byId).rows;

  it('takes new rows at the top and keeps its length', () => {
    expect(ids(apply(page, change('ADDED', 2, { items: [row('e')] })))).toEqual(['e', 'd']);
  });

  it('leaves rows that belong to a later page alone, and takes none at all where it is not the first', () => {
    expect(apply(page, change('ADDED', 2, { items: [row('a')] }))).toBe(page.rows);
    expect(apply({ ...page, first: false }, change('ADDED', 2, { items: [row('e')] }))).toEqual(page.rows);
  });

  it('changes and removes what is on it', () => {
    expect(apply(page, change('UPDATED', 2, { items: [row('c', 9)] }))).toEqual([row('d'), row('c', 9)]);
    expect(ids(apply(page, change('REMOVED', 2, { removed: ['d'] })))).toEqual(['c']);
  });
});
