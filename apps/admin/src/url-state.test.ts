import { expect, it } from 'vitest';
import { choice, choices, formatState, parseState, queryString, sort, text, texts } from './url-state.ts';

const shape = {
  q: text(),
  status: choices(['HEALTHY', 'STALE']),
  roles: texts(),
  view: choice(['raw', 'weighted'], 'weighted'),
  sort: sort(['name', 'load'], { by: 'name', descending: false }),
};

it('the address holds what differs from the start, and gives it back', () => {
  const { state } = parseState(shape, { q: 'a=b', status: 'STALE,HEALTHY', view: 'raw', sort: '-load' });
  expect(state).toEqual({
    q: 'a=b',
    status: ['STALE', 'HEALTHY'],
    roles: [],
    view: 'raw',
    sort: { by: 'load', descending: true },
  });
  expect(formatState(shape, state)).toEqual({ q: 'a=b', status: 'STALE,HEALTHY', view: 'raw', sort: '-load' });
  expect(formatState(shape, parseState(shape, {}).state)).toEqual({});
});

it('values that mean nothing are dropped and named; nobody crashes on a link', () => {
  const { state, ignored } = parseState(shape, { status: 'STALE,DEAD', view: 'blurred', sort: '-colour', page: '7' });
  expect(ignored).toEqual(['status', 'view', 'sort']);
  expect(state).toEqual(parseState(shape, {}).state);
});

it('a query string keeps what has a value', () => {
  expect(queryString({ q: 'a b', none: undefined, empty: '' })).toBe('?q=a+b');
  expect(queryString({})).toBe('');
});
