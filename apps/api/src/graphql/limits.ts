import { MusterError } from '@muster/core';
import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, parse } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { jsonShape } from '../lib/json-shape.ts';
import { repeatedFields, sizeOfDocument } from './document-size.ts';
import { priceOf } from './price.ts';

/**
 * What one request may be; the refusal names the limit, and nothing of it has run then. How much an answer may hold is bounded by
 * `spendNodes` besides.
 */
export const LIMITS = {
  /** Levels of fields. */
  depth: 14,
  /** The same below `__schema` and `__type`: what the usual tools send has 15. */
  introspection: 16,
  aliases: 30,
  directives: 50,
  /** Selected fields, with every fragment spread out. */
  fields: 2_000,
  /** Fields that are selected again where they are selected already, e.g. by two fragments. */
  repeatedFields: 200,
  operations: 20,
  fragments: 100,
  tokens: 4_000,
  /** See `priceOf`. */
  price: 100_000,
  queryBytes: 2 * 1_048_576,
  variables: 100,
  /** Levels of a body. Each JSON value in it has 64 of its own: a worker's report with one that is deeper is answered item by item. */
  jsonDepth: 1_000,
  /** Values in a body, of all kinds. */
  jsonValues: 2_000_000,
} as const;

/** Longer documents are parsed each time: a cache of a thousand of them would fill the memory. */
const MAX_CACHED_LENGTH = 16_384;
const MAX_CACHED = 1_000;

/** The parser's own bound, before anything is built of the rest. */
export function tokenLimitPlugin(): Plugin {
  return {
    onParse({ setParseFn }) {
      setParseFn((source: Parameters<typeof parse>[0], options: Parameters<typeof parse>[1]) =>
        parse(source, { ...options, maxTokens: LIMITS.tokens }),
      );
    },
  };
}

/** The documents that were sent last, without those that would take much memory. */
export function documentCache<T>(): { get(text: string): T | undefined; set(text: string, value: T): void } {
  const kept = new Map<string, T>();
  return {
    get(text) {
      const value = kept.get(text);
      if (value !== undefined && kept.delete(text)) kept.set(text, value);
      return value;
    },
    set(text, value) {
      if (text.length > MAX_CACHED_LENGTH) return;
      kept.set(text, value);
      if (kept.size > MAX_CACHED) kept.delete(kept.keys().next().value as string);
    },
  };
}

/** Before the JSON of a request is parsed. Errors: BAD_INPUT, TOO_LARGE. */
export function checkBodyShape(text: string): void {
  const { depth, values } = jsonShape(text);
  if (depth > LIMITS.jsonDepth) throw beyond('JSON depth', LIMITS.jsonDepth, depth);
  if (values > LIMITS.jsonValues) throw beyond('JSON value', LIMITS.jsonValues, values);
}

const measured = new WeakMap<DocumentNode, { readsSchema: boolean }>();

/**
 * Before a document is validated: validation has rules whose time grows faster than the text. Answers whether it asks for a part of the
 * schema. Errors: BAD_INPUT.
 */
export function checkSize(document: DocumentNode): { readsSchema: boolean } {
  const known = measured.get(document);
  if (known !== undefined) return known;
  const size = sizeOfDocument(document);
  const limits = [
    ['Query depth', 'depth'],
    ['Introspection depth', 'introspection'],
    ['Aliases', 'aliases'],
    ['Directives', 'directives'],
    ['Operations', 'operations'],
    ['Fragments', 'fragments'],
    ['Fields', 'fields'],
  ] as const;
  for (const [name, key] of limits) if (size[key] > LIMITS[key]) throw beyond(name, LIMITS[key], size[key]);
  const repeated = repeatedFields(document);
  if (repeated > LIMITS.repeatedFields) throw beyond('Repeated fields', LIMITS.repeatedFields, repeated);
  const found = { readsSchema: size.introspection > 0 };
  measured.set(document, found);
  return found;
}

/** After a document is validated. Errors: BAD_INPUT, with the price. */
export function checkPrice(
  schema: GraphQLSchema,
  document: DocumentNode,
  node: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): number {
  const price = priceOf(schema, document, node, variables);
  if (price > LIMITS.price) throw beyond('Query cost', LIMITS.price, price);
  return price;
}

/** What `extensions.cost` of an answer says. */
export function costOf(price: number): { price: number; limit: number } {
  return { price, limit: LIMITS.price };
}

/** Errors: BAD_INPUT whose only issue is a LIMIT. */
export function beyond(what: string, limit: number, found: number): MusterError {
  const message = `${what} limit of ${limit} exceeded, found ${found === Number.MAX_SAFE_INTEGER ? 'far more' : found}.`;
  return new MusterError('BAD_INPUT', message, { issues: [{ path: '', code: 'LIMIT', message }] });
}
