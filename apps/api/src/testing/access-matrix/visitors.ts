import { BUILT_IN_ROLES } from '@muster/core';
import { joinedWorker, joinToken } from '../joined-worker.ts';
import { type Grants, signIn } from '../sign-in.ts';
import type { TestApp } from '../test-app.ts';
import { permissionsOf, type Team } from '../two-teams.ts';
import type { Asker } from './verdict.ts';

/** Who walks through the matrix; a column of it. */
export interface Visitor extends Asker {
  readonly column: string;
  /** null: nobody. */
  readonly token: string | null;
  /** What it is called, where it is a principal. */
  readonly name: string;
  /** A join token that nobody has used; it is good once. */
  readonly joinSecret: string;
}

export async function makeVisitors(app: TestApp, team: Team): Promise<Visitor[]> {
  const worker = await joinedWorker(app, `${team.namespace}-joined`);
  const make = async (column: string, asker: Asker, token: string | null): Promise<Visitor> => {
    const { secret } = await joinToken(app, { worker: `joins-as-${column}`, role: 'worker' });
    return { column, ...asker, token, name: `the-${column}`, joinSecret: secret };
  };
  const service = async (column: string, permissions: readonly string[], grants: Grants): Promise<Visitor> =>
    make(column, { kind: 'service', permissions }, (await signIn(app, `the-${column}`, grants)).token);
  const { viewer, operator, admin } = BUILT_IN_ROLES;
  const member = [...permissionsOf(team), `worker:${team.namespace}-gone:manage`];
  // Submitted by an administrator: of his permissions it has those on workflows and executions.
  const execution = { kind: 'execution', permissions: ['workflow:*', 'execution:*'] } as const;
  return Promise.all([
    make('nobody', { kind: 'nobody', permissions: [] }, null),
    service('viewer', viewer, { roles: ['viewer'] }),
    service('operator', operator, { roles: ['operator'] }),
    service('admin', admin, { roles: ['admin'] }),
    make('worker', { kind: 'worker', permissions: [] }, worker.credential),
    make('execution', execution, team.executionToken),
    service('team', member, { permissions: member }),
  ]);
}

export interface MatrixAnswer {
  readonly codes: readonly string[];
  readonly data: unknown;
}

/** Asks one thing. Of an event stream, the first event is the answer. */
export async function askAs(app: TestApp, visitor: Visitor, document: string): Promise<MatrixAnswer> {
  const stop = new AbortController();
  const response = await send(app, visitor, document, stop.signal);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const text = isStream ? await firstData(response) : await response.text();
  stop.abort();
  return answerOf(text);
}

/** A stream that tells of what comes: the answer is what it has told when another reader, who may see all, has been told of two things that `make` makes. */
export async function followAs(
  app: TestApp,
  visitor: Visitor,
  document: string,
  make: () => Promise<unknown>,
): Promise<MatrixAnswer> {
  const stop = new AbortController();
  const response = await send(app, visitor, document, stop.signal);
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return answerOf(await response.text());
  let told: string | null = null;
  const reading = firstData(response).then(
    (text) => (told = text),
    () => null,
  );
  for (let made = 0; made < 2; made += 1) {
    const other = await send(app, { token: app.adminToken }, document, stop.signal);
    const first = firstData(other);
    await make();
    await first;
  }
  stop.abort();
  await reading;
  return told === null ? { codes: [], data: null } : answerOf(told);
}

function send(app: TestApp, visitor: Pick<Visitor, 'token'>, document: string, signal: AbortSignal): Promise<Response> {
  const accept: Record<string, string> = document.startsWith('subscription') ? { accept: 'text/event-stream' } : {};
  return fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...accept, ...authorization(visitor) },
    body: JSON.stringify({ query: document }),
    signal,
  });
}

function answerOf(text: string): MatrixAnswer {
  const result = JSON.parse(text) as { data?: unknown; errors?: { extensions: { code: string } }[] };
  return { codes: (result.errors ?? []).map(({ extensions }) => extensions.code), data: result.data ?? null };
}

/** The same at a route. A stream counts as what its status says. */
export async function fetchAs(app: TestApp, visitor: Visitor, method: string, path: string): Promise<MatrixAnswer> {
  const stop = new AbortController();
  const body = method === 'PUT' ? (path.endsWith('/metadata') ? '{"metadata":{}}' : '"b3"') : null;
  const headers = { ...authorization(visitor), prefer: 'wait=1' };
  const response = await fetch(`${app.url}${path}`, { method, headers, body, signal: stop.signal });
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const read = isJson ? ((await response.json()) as { error?: { code?: string } | null }) : {};
  stop.abort();
  // An execution has a member of that name too.
  const code = read.error?.code;
  return { codes: code === undefined ? [] : [code], data: isJson ? read : 'a stream or a text' };
}

function authorization({ token }: Pick<Visitor, 'token'>): Record<string, string> {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

async function firstData(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const data = /^data: ?(\{.*)$/m.exec(text)?.[1];
    if (data !== undefined && text.includes('\n\n', text.indexOf(data))) return data;
  }
  throw new Error(`the stream has ended without an event: ${text}`);
}
