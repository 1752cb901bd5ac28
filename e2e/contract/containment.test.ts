import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { brokenPromises } from './containment.ts';

const promised = buildSchema(`
  type Query { item(id: ID!, deep: Boolean = false): Item! }
  interface Node { id: ID! }
  type Item implements Node { id: ID! kind: Kind }
  enum Kind { ONE TWO }
  input ItemInput { name: String! count: Int = 1 }
`);

const kept = `
  type Query { item(id: ID!, deep: Boolean = false, extra: Int): Item! more: Int }
  interface Node { id: ID! }
  type Item implements Node { id: ID! kind: Kind size: Int }
  enum Kind { ONE TWO THREE }
  input ItemInput { name: String! count: Int = 1 note: String }
`;

test('additions that callers need not know keep the promise', () => {
  expect(brokenPromises(promised, buildSchema(kept))).toEqual([]);
});

test.for([
  { change: ['kind: Kind size', 'size'], says: 'Item.kind is missing' },
  { change: ['kind: Kind size', 'kind: Kind! size'], says: 'Item.kind is Kind!, promised was Kind' },
  { change: ['): Item!', '): Item'], says: 'Query.item is Item, promised was Item!' },
  { change: ['deep: Boolean = false', 'deep: Boolean = true'], says: 'Query.item(deep) has another default' },
  { change: ['deep: Boolean = false, ', ''], says: 'Query.item(deep) is missing' },
  { change: ['extra: Int)', 'extra: Int!)'], says: 'Query.item(extra) is new and not optional' },
  { change: ['note: String', 'note: String!'], says: 'ItemInput(note) is new and not optional' },
  { change: ['type Item implements Node', 'type Item'], says: 'Item does not implement Node' },
  { change: ['ONE TWO', 'TWO'], says: 'Kind.ONE is missing' },
  { change: ['input ItemInput { name: String! count: Int = 1 note: String }', ''], says: 'type ItemInput is missing' },
  { change: ['enum Kind { ONE TWO THREE }', 'scalar Kind'], says: 'Kind is of another kind' },
])('found: $says', ({ change: [from = '', to = ''], says }) => {
  expect(kept).toContain(from);
  expect(brokenPromises(promised, buildSchema(kept.replace(from, to)))).toEqual([says]);
});
