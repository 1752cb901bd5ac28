import type { Server } from './server.ts';

export interface GraphQLProblem {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly [key: string]: unknown };
}

export interface GraphQLAnswer<T> {
  readonly status: number;
  readonly data?: T | null;
  readonly errors?: readonly GraphQLProblem[];
}

/** What a script with curl would do: one POST, whatever the answer. */
export async function post<T>(
  server: Server,
  query: string,
  variables?: Record<string, unknown>,
): Promise<GraphQLAnswer<T>> {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const body: Omit<GraphQLAnswer<T>, 'status'> = JSON.parse(await response.text());
  return { status: response.status, ...body };
}

/** The data of an answer without errors. */
export async function ask<T>(server: Server, query: string, variables?: Record<string, unknown>): Promise<T> {
  const { data, errors } = await post<T>(server, query, variables);
  if (errors || !data) throw new Error(`${query}\n${JSON.stringify(errors, null, 2)}`);
  return data;
}

/** The first error of an answer that must have one. */
export async function refusal(
  server: Server,
  query: string,
  variables?: Record<string, unknown>,
): Promise<GraphQLProblem> {
  const { data, errors } = await post(server, query, variables);
  const first = errors?.[0];
  if (!first) throw new Error(`expected an error, got ${JSON.stringify(data)}`);
  return first;
}
