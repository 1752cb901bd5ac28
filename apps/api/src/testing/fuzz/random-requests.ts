import * as fc from 'fast-check';
import {
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import { routes } from '../../http/rest/routes.ts';
import type { Route } from '../../http/rest/route.ts';
import { id, json, type Known, moment, number, text } from './random-values.ts';

/** A request as it is sent; printed where it breaks the server. */
export interface RandomRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Requests for every field of Query, Mutation and Subscription and every REST route, mostly well-formed and seldom sensible. */
export function randomRequests(schema: GraphQLSchema, known: Known): fc.Arbitrary<RandomRequest> {
  const operations = (['query', 'mutation', 'subscription'] as const).flatMap((kind) =>
    Object.values(
      { query: schema.getQueryType(), mutation: schema.getMutationType(), subscription: schema.getSubscriptionType() }[
        kind
      ]?.getFields() ?? {},
    ).map((field) => operation(kind, field, known)),
  );
  return fc.oneof(
    { weight: 7, arbitrary: fc.oneof(...operations) },
    { weight: 1, arbitrary: garbage(known) },
    { weight: 3, arbitrary: fc.oneof(...routes.map((route) => call(route, known))) },
  );
}

/** How many different things the requests ask for. */
export function targets(schema: GraphQLSchema): number {
  const fields = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return fields.reduce((sum, type) => sum + Object.keys(type?.getFields() ?? {}).length, routes.length);
}

function operation(
  kind: 'query' | 'mutation' | 'subscription',
  field: GraphQLField<unknown, unknown>,
  known: Known,
): fc.Arbitrary<RandomRequest> {
  const names = field.args.map(({ name }) => name);
  const declared = field.args.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const given = names.map((name) => `${name}: $${name}`).join(', ');
  const head = `${kind} Fuzz${declared === '' ? '' : `(${declared})`} { ${field.name}${given === '' ? '' : `(${given})`}`;
  const documents = [1, 3].map((depth) => `${head} ${selection(field.type, depth)} }`);
  const values = fc.record(
    Object.fromEntries(field.args.map(({ name, type }) => [name, value(type, name, known, 0)])),
    { requiredKeys: field.args.filter(isRequiredArgument).map(({ name }) => name) },
  );
  return fc.tuple(fc.constantFrom(...documents), values).map(([query, variables]) => ({
    method: 'POST',
    path: '/graphql',
    headers: { ...JSON_TYPE, accept: kind === 'subscription' ? 'text/event-stream' : 'application/json' },
    body: JSON.stringify({ query, variables }),
  }));
}

/** All plain fields, and what is below the others; empty where there is nothing to select. */
function selection(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  if (isInterfaceType(named)) return '{ __typename id }';
  if (!isObjectType(named)) return '{ __typename }';
  const parts = Object.values(named.getFields())
    .filter((field) => !field.args.some(isRequiredArgument))
    .flatMap((field) => {
      if (isLeafType(getNamedType(field.type))) return [field.name];
      const size = field.args.some(({ name }) => name === 'first') ? '(first: 2)' : '';
      return depth > 0 ? [`${field.name}${size} ${selection(field.type, depth - 1)}`] : [];
    });
  return `{ __typename ${parts.join(' ')} }`;
}

/** Of the type, or, now and then, of another one. */
function value(type: GraphQLInputType, name: string, known: Known, depth: number): fc.Arbitrary<unknown> {
  const right = rightValue(getNullableType(type), name, known, depth);
  const others: fc.WeightedArbitrary<unknown>[] = [
    { weight: 1, arbitrary: fc.oneof(json(known), text(known), number) },
  ];
  if (!isNonNullType(type)) others.push({ weight: 2, arbitrary: fc.constant(null) });
  return fc.oneof({ weight: 30, arbitrary: right }, ...others);
}

function rightValue(type: GraphQLInputType, name: string, known: Known, depth: number): fc.Arbitrary<unknown> {
  // What waits would make the requests last as long.
  if (name === 'waitSeconds') return fc.constantFrom(0, -1, 61, 2 ** 31 - 1);
  if (isListType(type)) return fc.array(value(type.ofType, name, known, depth), { maxLength: 3 });
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map((item) => item.name));
  if (isInputObjectType(type)) {
    if (depth > 3) return fc.constant({});
    const fields = Object.values(type.getFields());
    return fc.record(
      Object.fromEntries(fields.map((field) => [field.name, value(field.type, field.name, known, depth + 1)])),
      { requiredKeys: fields.filter(isRequiredInputField).map((field) => field.name) },
    );
  }
  switch (getNamedType(type).name) {
    case 'Int':
    case 'Float':
      return number;
    case 'Boolean':
      return fc.boolean();
    case 'ID':
      return id(known);
    case 'DateTime':
      return moment;
    case 'JSON':
    case 'JSONObject':
    case 'RoutingInput':
      return json(known);
    default:
      return text(known);
  }
}

/** Texts that are no documents, or no JSON. */
function garbage(known: Known): fc.Arbitrary<RandomRequest> {
  const documents = fc.oneof(
    text(known),
    fc
      .tuple(
        fc.constantFrom(
          '{ viewer { name } }',
          'query ($a: [ID!]!) { nodes(ids: $a) { id } }',
          '{ __schema { types { name } } }',
        ),
        fc.nat(60),
        text(known),
      )
      .map(([document, at, extra]) => document.slice(0, at) + extra + document.slice(at + 1)),
  );
  const wrapped = fc.tuple(documents, json(known)).map(([query, variables]) => JSON.stringify({ query, variables }));
  return fc
    .tuple(
      fc.oneof(
        { weight: 4, arbitrary: wrapped },
        {
          weight: 1,
          arbitrary: fc.oneof(
            text(known),
            json(known).map((item) => JSON.stringify(item)),
          ),
        },
      ),
      fc.constantFrom(
        'application/json',
        'application/json; charset=utf-8',
        'text/plain',
        'application/x-www-form-urlencoded',
      ),
      fc.constantFrom('POST', 'POST', 'POST', 'PUT', 'DELETE'),
    )
    .map(([body, type, method]) => ({ method, path: '/graphql', headers: { 'content-type': type }, body }));
}

function call(route: Route, known: Known): fc.Arbitrary<RandomRequest> {
  const of = (place: 'path' | 'query' | 'header') =>
    route.parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);
  const anyValue = fc.oneof(
    text(known),
    id(known),
    number.map(String),
    json(known).map((item) => JSON.stringify(item)),
  );
  const some = (names: string[], all: boolean) =>
    fc.record(Object.fromEntries(names.map((name) => [name, anyValue])), { requiredKeys: all ? names : [] });
  return fc
    .tuple(
      some(of('path'), true),
      some([...of('query'), 'unknown'].slice(0, of('query').length + 1), false),
      some(of('header'), false),
      fc.oneof(
        json(known).map((item) => JSON.stringify(item)),
        text(known),
      ),
    )
    .map(([path, query, headers, body]) => {
      const address = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(path[name] ?? '') || 'x');
      const search = Object.entries(query).map(([name, item]) => `${name}=${encoded(item ?? '')}`);
      return {
        method: route.method,
        path: search.length === 0 ? address : `${address}?${search.join('&')}`,
        headers: {
          ...JSON_TYPE,
          ...Object.fromEntries(Object.entries(headers).map(([name, item]) => [name, headerText(item ?? '')])),
          prefer: 'wait=0',
        },
        body: route.method === 'GET' ? null : body,
      };
    });
}

/** Half of a character is sent as the bytes that somebody would make of it. */
function encoded(part: string): string {
  try {
    return encodeURIComponent(part);
  } catch {
    return '%ED%A0%80';
  }
}

/** What Node lets into a header: bytes, no control characters. */
function headerText(value: string): string {
  return Buffer.from(value, 'utf8')
    .toString('latin1')
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')
    .slice(0, 4_000);
}
