import { readFileSync } from 'node:fs';
import { getIntrospectionQuery, isObjectType, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { sizeOfDocument } from './document-size.ts';
import { LIMITS } from './limits.ts';
import { priceOf, SURCHARGES } from './price.ts';
import { buildSchema } from './schema.ts';

const schema = buildSchema();

function price(text: string, variables: Record<string, unknown> = {}): number {
  const document = parse(text);
  const operation = document.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return priceOf(schema, document, operation as OperationDefinitionNode, variables);
}

describe('the price of an operation', () => {
  it('is one for each field that is resolved', () => {
    expect(price('{ viewer { name roles } }')).toBe(3);
    expect(price('{ viewer { name } again: viewer { name } }')).toBe(4);
  });

  it('counts a page at the size that is asked for, and the count once', () => {
    const page = (args: string): number => price(`{ executions${args} { nodes { id state } totalCount } }`);
    expect(page('(first: 10)')).toBe(1 + 1 + 10 * 2 + 51);
    expect(page('(first: 1)')).toBe(1 + 1 + 2 + 51);
    expect(page('(last: 20)')).toBe(1 + 1 + 20 * 2 + 51);
    expect(page('')).toBe(1 + 1 + 50 * 2 + 51);
    expect(price('{ executions(first: 3) { edges { cursor node { id } } } }')).toBe(1 + 1 + 3 * 3);
  });

  it('takes the size from a variable, its default or the limit', () => {
    const query = 'query ($n: Int = 7) { workers(first: $n) { nodes { id } } }';
    expect(price(query, { n: 20 })).toBe(22);
    expect(price(query)).toBe(9);
    expect(price(query, { n: 1_000_000 })).toBe(202);
    expect(price(query, { n: -5 })).toBe(3);
    expect(price(query, { n: 'many' })).toBe(52);
  });

  it('multiplies what stands inside', () => {
    expect(price('{ executions(first: 4) { nodes { decisions(first: 5) { nodes { id } } } } }')).toBe(2 + 4 * (2 + 5));
  });

  it('sees through fragments, wherever they are spread', () => {
    const plain = price('{ executions(first: 4) { nodes { id state } } workers(first: 2) { nodes { id } } }');
    const spread =
      '{ executions(first: 4) { ...c } ... on Query { workers(first: 2) { nodes { ... { id } } } } } fragment c on ExecutionConnection { nodes { ...e } } fragment e on Execution { id state }';
    expect(price(spread)).toBe(plain);
  });

  it('counts the lists of the caller', () => {
    const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    expect(price(nodes, { ids: Array.from({ length: 30 }, () => 'x') })).toBe(31);
    expect(price('{ nodes(ids: ["a", "b", "c"]) { id } }')).toBe(4);
    const runs = 'mutation ($input: RunWorkflowsInput!) { runWorkflows(input: $input) { results { errorCode } } }';
    const one = price(runs, { input: { runs: [{}] } });
    expect(price(runs, { input: { runs: Array.from({ length: 500 }, () => ({})) } })).toBe(one + 499 * 10);
  });

  it('does not overflow', () => {
    const levels = 20;
    const deep = `(first: 200) { nodes { children`.repeat(levels);
    expect(price(`{ executions${deep} { nodes { id } } ${'} } '.repeat(levels)} }`)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('has surcharges only for fields that there are', () => {
    const unknown = Object.keys(SURCHARGES).filter((name) => {
      const [type = '', field = ''] = name.split('.');
      const found = schema.getType(type);
      return !isObjectType(found) || found.getFields()[field] === undefined;
    });
    expect(unknown).toEqual([]);
  });
});

describe('what our own programs send', () => {
  const texts = ['../../../../packages/client/src/generated/graphql.ts', '../../../admin/src/api/generated/graphql.ts']
    .flatMap((path) => [
      ...readFileSync(new URL(path, import.meta.url), 'utf8').matchAll(/new TypedDocumentString\(`([^`]*)`/g),
    ])
    .map(([, text]) => text ?? '');
  const documents = [...texts, getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true })].map(
    (text) => parse(text),
  );
  const operations = documents.flatMap((document) =>
    document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION).map((node) => ({ document, node })),
  );

  it('is well below every limit, with the largest pages', () => {
    expect(operations.length).toBeGreaterThan(40);
    for (const { document, node } of operations) {
      const name = node.name?.value ?? '';
      const size = sizeOfDocument(document);
      for (const key of ['aliases', 'directives', 'fields', 'operations', 'fragments'] as const)
        expect(size[key], `${name}: ${key}`).toBeLessThanOrEqual(LIMITS[key] / 2);
      expect(size.depth, name).toBeLessThan(LIMITS.depth);
      expect(size.introspection, name).toBeLessThan(LIMITS.introspection);
      const pages = { first: 200, last: 200, limit: 200 };
      expect(priceOf(schema, document, node, pages), name).toBeLessThan(LIMITS.price * 0.6);
    }
  });
});
