import type { Answer, TestApp } from './test-app.ts';

const CREATE = `mutation ($input: CreateJoinTokenInput!) { createJoinToken(input: $input) { secret joinToken { id } } }`;
const JOIN = `mutation ($input: WorkerJoinInput!) {
  workerJoin(input: $input) { credential worker role services expiresAt renewAfterSeconds }
}`;
const REGISTER = `mutation ($input: WorkerRegisterInput!) {
  workerRegister(input: $input) { worker { name role labels { key value } } }
}`;

/** Makes a join token as an administrator; answers its secret and its id. */
export async function joinToken(
  app: Pick<TestApp, 'ask'>,
  input: Record<string, unknown> = {},
): Promise<{ secret: string; id: string }> {
  const { createJoinToken } = await app.ask(CREATE, { input });
  return { secret: createJoinToken.secret as string, id: createJoinToken.joinToken.id as string };
}

/** Joins as a worker does: without Authorization. */
export async function join(app: Pick<TestApp, 'url'>, secret: string, name?: string, role?: string): Promise<Answer> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: JOIN, variables: { input: { secret, name, role } } }),
  });
  const text = await response.text();
  const { data, errors = [] } = JSON.parse(text) as Partial<Answer>;
  return { status: response.status, headers: response.headers, text, data, errors };
}

/** A worker that has joined, with what it may send. */
export interface JoinedWorker {
  readonly name: string;
  readonly credential: string;
  /** Asks with its own credential. */
  post(query: string, variables?: Record<string, unknown>): Promise<Answer>;
  register(more?: Record<string, unknown>): Promise<Answer>;
}

/** A worker with a credential of its own, by a join token that is bound to its name; `bound`: to what else. */
export async function joinedWorker(
  app: Pick<TestApp, 'ask' | 'post' | 'url'>,
  name: string,
  bound: Record<string, unknown> = {},
): Promise<JoinedWorker> {
  const { secret } = await joinToken(app, { worker: name, role: 'worker', ...bound });
  const { data, text } = await join(app, secret);
  if (data?.workerJoin == null) throw new Error(text);
  return workerWith(app, name, data.workerJoin.credential as string);
}

/** A worker that sends this credential, whosever it is. */
export function workerWith(app: Pick<TestApp, 'post'>, name: string, credential: string): JoinedWorker {
  const post: JoinedWorker['post'] = (query, variables) =>
    app.post(query, variables, { authorization: `Bearer ${credential}` });
  return {
    name,
    credential,
    post,
    register: (more = {}) => post(REGISTER, { input: { ...registrationInput(name), ...more } }),
  };
}

export function registrationInput(name: string): Record<string, unknown> {
  return {
    name,
    instanceId: `${name}-1`,
    role: 'worker',
    hostname: 'host',
    version: '1.0.0',
    startedAt: new Date().toISOString(),
  };
}
