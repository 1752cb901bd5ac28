import type { GraphQLRequest } from '../pipeline.ts';

/** A request that asks for more than anybody may, and what its refusal says. */
export interface AbuseRequest {
  readonly name: string;
  /** Parsed and as text, as both transports have it. */
  readonly request: GraphQLRequest;
  readonly text: string;
  readonly refusal: RegExp;
}

const times = (count: number, part: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => part(i)).join(' ');
const nested = (open: string, inner: string, levels: number, close = ' }'): string =>
  open.repeat(levels) + inner + close.repeat(levels);

const WHY = 'whyWaiting { winner rejections { reason count } }';

function of(name: string, refusal: RegExp, query: string, variables?: unknown, operationName?: string): AbuseRequest {
  const request = {
    query,
    ...(variables === undefined ? {} : { variables }),
    ...(operationName ? { operationName } : {}),
  };
  return { name, refusal, request, text: JSON.stringify(request) };
}

/** Fragments that spread the next one twice each: 2^levels fields in a short text. */
function fragmentBomb(levels: number): string {
  const fragments = times(levels, (i) => `fragment f${i} on Query { ...f${i + 1} ...f${i + 1} }`);
  return `{ ...f0 } ${fragments} fragment f${levels} on Query { viewer { name } }`;
}

/** The same with a level of fields each: it would be as deep as it is wide. */
function deepFragmentBomb(levels: number): string {
  const fragments = times(
    levels,
    (i) => `fragment f${i} on Execution { parent { ...f${i + 1} } root: parent { ...f${i + 1} } }`,
  );
  return `{ execution(id: "x") { ...f0 } } ${fragments} fragment f${levels} on Execution { id }`;
}

function circle(fragments: number): string {
  return `{ ...f0 } ${times(fragments, (i) => `fragment f${i} on Query { viewer { name } ...f${(i + 1) % fragments} }`)}`;
}

const LIMIT = (what: string): RegExp => new RegExp(`${what} limit of \\d+ exceeded`);

/** Each of them is refused before anything of it runs. */
export function abuseRequests(): AbuseRequest[] {
  const page = 'first: 200';
  return [
    of(
      '1,000 aliases of the dearest field',
      LIMIT('(?:Aliases|Token)'),
      `{ ${times(1_000, (i) => `a${i}: executions(${page}) { nodes { ${WHY} } }`)} }`,
    ),
    of('31 aliases', LIMIT('Aliases'), `{ ${times(31, (i) => `a${i}: viewer { name }`)} }`),
    of(
      'aliases inside a fragment that is spread often',
      LIMIT('Aliases'),
      `{ ${times(4, (i) => `r${i}: viewer { ...f }`)} } fragment f on Viewer { ${times(8, (i) => `n${i}: name`)} }`,
    ),
    of(
      'aliases below aliases',
      LIMIT('Aliases'),
      `{ ${times(6, (i) => `a${i}: executions { ${times(6, (j) => `b${j}: nodes { id }`)} }`)} }`,
    ),
    of('a chain of 15 levels', LIMIT('Query depth'), `{ execution(id: "x") ${nested('{ parent ', '{ id }', 14)} }`),
    of('a chain of 600 levels', LIMIT('Query depth'), `{ execution(id: "x") ${nested('{ parent ', '{ id }', 600)} }`),
    of(
      'a chain over fragments',
      LIMIT('Query depth'),
      `{ execution(id: "x") { ...f0 } } ${times(20, (i) => `fragment f${i} on Execution { parent { ...f${i + 1} } }`)} fragment f20 on Execution { id }`,
    ),
    of(
      'a chain over inline fragments',
      LIMIT('Query depth'),
      `{ execution(id: "x") ${nested('{ ... on Execution { parent ', '{ id }', 20, ' } }')} }`,
    ),
    of('braces without end', /syntax error|Token limit/, `{ a ${'{ a '.repeat(100_000)}`),
    of('brackets without end', /syntax error|Token limit/, `{ nodes(ids: ${'['.repeat(100_000)}`),
    of('a fragment that spreads itself', LIMIT('Fields'), circle(1)),
    of('a circle of 50 fragments', LIMIT('Fields'), circle(50)),
    of('a fragment bomb of 30 levels', LIMIT('Fields'), fragmentBomb(30)),
    of('a fragment bomb of 90 levels', LIMIT('Fields'), fragmentBomb(90)),
    of('a deep fragment bomb', LIMIT('(?:Query depth|Aliases)'), deepFragmentBomb(60)),
    of(
      '300 fragments',
      LIMIT('Fragments'),
      `{ viewer { ${times(300, (i) => `...f${i}`)} } } ${times(300, (i) => `fragment f${i} on Viewer { name }`)}`,
    ),
    of(
      'fragments that nothing spreads',
      LIMIT('Fields'),
      `{ viewer { name } } ${times(20, (i) => `fragment f${i} on Viewer { ${'name '.repeat(150)} }`)}`,
    ),
    of('a field that is named 3,000 times', LIMIT('Fields'), `{ viewer { ${'name '.repeat(3_000)} } }`),
    of('a field that is named 1,500 times', LIMIT('Repeated fields'), `{ viewer { ${'name '.repeat(1_500)} } }`),
    of(
      'fields that are the same by way of fragments',
      LIMIT('Repeated fields'),
      `{ ${times(60, (i) => `viewer { ...f${i} }`)} } ${times(60, (i) => `fragment f${i} on Viewer { ${'name '.repeat(6)} }`)}`,
    ),
    of(
      'the same levels again and again',
      LIMIT('Repeated fields'),
      `{ execution(id: "x") { ${'parent { id state parent { id } } '.repeat(150)} } }`,
    ),
    of('200 directives', LIMIT('Directives'), `{ viewer ${'@include(if: true) '.repeat(200)} { name } }`),
    of(
      'directives on fragments',
      LIMIT('Directives'),
      `{ viewer { ${times(51, () => '... @skip(if: false) { name }')} } }`,
    ),
    of('directives that are not known', LIMIT('Directives'), `{ viewer ${times(500, (i) => `@d${i}`)} { name } }`),
    of(
      'directives on variables',
      LIMIT('Directives'),
      `query (${times(60, (i) => `$v${i}: Int @include(if: true)`)}) { viewer { name } }`,
    ),
    of(
      '1,000 operations in one document',
      LIMIT('(?:Operations|Token)'),
      times(1_000, (i) => `query q${i} { viewer { name } }`),
      undefined,
      'q0',
    ),
    of(
      '21 operations in one document',
      LIMIT('Operations'),
      times(21, (i) => `query q${i} { viewer { name } }`),
      undefined,
      'q0',
    ),
    of('5,000 tokens', LIMIT('Token'), `{ nodes(ids: [${'"x" '.repeat(5_000)}]) { id } }`),
    of('a text of 3 MiB', LIMIT('Query length'), `{ viewer { name } } #${'x'.repeat(3 * 1_048_576)}`),
    of(
      'introspection in circles',
      /circles/,
      `{ __schema { types ${nested('{ fields { type ', '{ name }', 5, ' } }')} } }`,
    ),
    of(
      'introspection that is too deep',
      LIMIT('Introspection depth'),
      `{ __type(name: "Query") ${nested('{ ofType ', '{ name }', 30)} }`,
    ),
    of('introspection with aliases', LIMIT('Aliases'), `{ ${times(40, (i) => `a${i}: __schema { types { name } }`)} }`),
    of(
      'pages inside pages',
      LIMIT('Query cost'),
      `{ executions(${page}) { nodes { decisions(${page}) { nodes { execution { events(${page}) { nodes { id } } } } } } } }`,
    ),
    of(
      'pages inside pages by variables',
      LIMIT('Query cost'),
      'query ($n: Int) { executions(first: $n) { edges { node { children(first: $n) { edges { node { steps(first: $n) { nodes { position } } } } } } } } }',
      { n: 200 },
    ),
    of(
      'pages whose size is a default',
      LIMIT('Query cost'),
      'query ($n: Int = 200) { executions(first: $n) { nodes { decisions(first: $n) { nodes { id reason } } children(first: $n) { nodes { id state } } } } }',
    ),
    of(
      'the dearest field of 200 executions, 20 times',
      LIMIT('Query cost'),
      `{ ${times(20, (i) => `a${i}: executions(${page}) { nodes { ${WHY} } }`)} }`,
    ),
    of(
      '30 previews of each execution',
      LIMIT('Query cost'),
      `{ executions(${page}) { nodes { ${times(29, (i) => `w${i}: ${WHY}`)} } } }`,
    ),
    of('100,000 ids in a variable', LIMIT('Query cost'), 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: Array.from({ length: 100_000 }, () => 'x'),
    }),
    of(
      '200 variables',
      LIMIT('Variables'),
      '{ viewer { name } }',
      Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`v${i}`, i])),
    ),
    ofText(
      'JSON of 5,000 levels in a variable',
      LIMIT('JSON depth'),
      `{ "query": "{ viewer { name } }", "variables": { "v": ${'['.repeat(5_000)}${']'.repeat(5_000)} } }`,
    ),
    ofText(
      '3,000,000 values in a variable',
      LIMIT('JSON value'),
      `{ "query": "{ viewer { name } }", "variables": { "v": [${'0,'.repeat(3_000_000)}0] } }`,
    ),
    of('no query', /query must be/, '  '),
    of('variables that are a list', /variables must be an object/, '{ viewer { name } }', []),
  ];
}

function ofText(name: string, refusal: RegExp, text: string): AbuseRequest {
  return { name, refusal, text, request: {} };
}
