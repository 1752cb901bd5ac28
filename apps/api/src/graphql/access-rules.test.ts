import type { GraphQLObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { routes } from '../http/rest/routes.ts';
import { buildSchema } from './schema.ts';

const schema = buildSchema();

/** What a field says in `authScopes`. */
function ruleOf(type: GraphQLObjectType, field: string): unknown {
  const { extensions } = type.getFields()[field] ?? {};
  return (extensions?.['pothosOptions'] as { authScopes?: unknown } | undefined)?.authScopes;
}

describe('who is let in', () => {
  it.each(['Query', 'Mutation', 'Subscription'])('is said by every field of %s', (name) => {
    const type = schema.getType(name) as GraphQLObjectType;
    const silent = Object.keys(type.getFields()).filter((field) => ruleOf(type, field) === undefined);
    expect(silent).toEqual([]);
  });

  it('is said by every route', () => {
    const silent = routes.filter(({ access }) => Object.values(access).every((part) => part === undefined));
    expect(silent.map(({ operationId }) => operationId)).toEqual([]);
  });
});
