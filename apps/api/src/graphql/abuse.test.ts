import { MusterError } from '@muster/core';
import { getIntrospectionQuery, type GraphQLSchema, isObjectType } from 'graphql';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Log } from '../log.ts';
import { administrator } from '../modules/viewer/viewer.ts';
import type { Context } from './context.ts';
import { LIMITS } from './limits.ts';
import { createPipeline, type GraphQLRequest } from './pipeline.ts';
import { buildSchema } from './schema.ts';
import { abuseRequests } from './testing/abuse-requests.ts';

/** Names of the fields that were resolved. */
const resolved: string[] = [];

/** The schema itself, with resolvers that take note and answer nothing. */
function notingSchema(): GraphQLSchema {
  const schema = buildSchema();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const note = (): null => {
        resolved.push(`${type.name}.${field.name}`);
        return null;
      };
      field.resolve = note;
      field.subscribe = note as never;
    }
  }
  return schema;
}

const pipeline = createPipeline(notingSchema());
const log = { error: () => {}, warn: () => {} } as unknown as Log;
beforeEach(() => {
  resolved.length = 0;
});

/** All that a transport does with a request; null: it was run. */
async function refusalOf(
  request: GraphQLRequest,
  text: string | null,
  viewer = administrator,
): Promise<MusterError | null> {
  try {
    const operation = pipeline.prepare(request, text, viewer);
    const { refused } = await pipeline.run(operation, { viewer, requestId: 'rq', log } as unknown as Context);
    return refused ? new MusterError('BAD_INPUT', 'refused by the types of its variables') : null;
  } catch (error) {
    if (error instanceof MusterError) return error;
    throw error;
  }
}

describe('a request that asks for too much', () => {
  it.each(abuseRequests().map((request) => [request.name, request] as const))(
    '%s: is refused before anything runs',
    async (_name, { request, text, refusal }) => {
      const error = await refusalOf(request, text);
      expect(error?.code).toBe('BAD_INPUT');
      expect(error?.message).toMatch(refusal);
      expect(resolved).toEqual([]);
      // The second time it comes from the cache.
      expect((await refusalOf(request, text))?.message).toMatch(refusal);
      expect(resolved).toEqual([]);
    },
  );

  it('is told apart from one that stays at the limits', async () => {
    const aliases = Array.from({ length: LIMITS.aliases }, (_, i) => `a${i}: viewer { name }`).join(' ');
    const depth = LIMITS.depth - 2;
    for (const query of [
      `{ ${aliases} }`,
      `{ execution(id: "x") ${'{ parent '.repeat(depth)}{ id }${' }'.repeat(depth)} }`,
      `{ viewer { ${'name '.repeat(LIMITS.repeatedFields)} } }`,
      getIntrospectionQuery({ descriptions: true, inputValueDeprecation: true, specifiedByUrl: true }),
    ])
      expect(await refusalOf({ query }, null)).toBeNull();
    expect(resolved).not.toEqual([]);
  });
});

describe('the schema', () => {
  const worker = { ...administrator, kind: 'worker' as const };
  const execution = { ...administrator, kind: 'execution' as const };

  it('is shown to people and services, and not to workers and executions, also not by way of a fragment', async () => {
    for (const query of [
      getIntrospectionQuery(),
      '{ __schema { queryType { name } } }',
      '{ ...f } fragment f on Query { ... { __type(name: "Viewer") { name } } }',
    ]) {
      for (const viewer of [worker, execution])
        expect((await refusalOf({ query }, null, viewer))?.code).toBe('FORBIDDEN');
      for (const kind of ['person', 'service'] as const)
        expect(await refusalOf({ query }, null, { ...administrator, kind })).toBeNull();
    }
    expect(await refusalOf({ query: '{ viewer { __typename } }' }, null, worker)).toBeNull();
    expect(() => pipeline.prepare({ query: '{ __schema { queryType { name } } }' }, null, null)).toThrow(/schema/);
  });

  it('is suggested from to whoever may read it', async () => {
    for (const [query, suggestion] of [
      ['{ viewe { name } }', 'Did you mean "viewer"'],
      ['{ worker(nam: "x") { id } }', 'Did you mean "name"?'],
      ['{ node(id: "x") { slug } }', 'Did you mean to use an inline fragment on "Deployment"?'],
    ] as const) {
      expect((await refusalOf({ query }, null))?.message).toContain(suggestion);
      const told = (await refusalOf({ query }, null, worker))?.message;
      expect(told).not.toContain('Did you mean');
    }
  });
});
