import { hashOf, newSecret } from '../modules/access/secrets.ts';
import type { Answer, TestApp } from './test-app.ts';

/** Somebody with a token of his own, for tests. */
export interface SignedIn {
  readonly name: string;
  readonly token: string;
  post(query: string, variables?: Record<string, unknown>): Promise<Answer>;
  /** As `post`; throws where there are errors. */
  // oxlint-disable-next-line typescript/no-explicit-any
  ask(query: string, variables?: Record<string, unknown>): Promise<any>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export type Grants = { readonly permissions: readonly string[] } | { readonly roles: readonly string[] };

/** A service account with a role that has exactly these permissions, or with these roles, and an API token of it. */
export async function signIn(
  app: Pick<TestApp, 'plane' | 'post' | 'url'>,
  name: string,
  grants: Grants,
): Promise<SignedIn> {
  const { database } = app.plane;
  const token = newSecret('mst_');
  const roles = 'roles' in grants ? grants.roles : [`of-${name}`];
  if ('permissions' in grants)
    await database.query('INSERT INTO role (name, permissions) VALUES ($1, $2)', [roles[0], grants.permissions]);
  await database.query(
    `WITH who AS (INSERT INTO principal (name, kind, roles, created_by) VALUES ($1, 'SERVICE', $2, 'test') RETURNING id)
      INSERT INTO token (principal_id, name, prefix, hash, created_by) SELECT id, 'test', $3, $4, 'test' FROM who`,
    [name, roles, token.slice(0, 10), hashOf(token)],
  );
  return withToken(app, name, token);
}

/** Whoever has this token. */
export function withToken(app: Pick<TestApp, 'post' | 'url'>, name: string, token: string): SignedIn {
  const authorization = `Bearer ${token}`;
  const post: SignedIn['post'] = (query, variables) => app.post(query, variables, { authorization });
  return {
    name,
    token,
    post,
    async ask(query, variables) {
      const { data, errors, text } = await post(query, variables);
      if (errors.length > 0) throw new Error(text);
      return data;
    },
    fetch: (path, init) => fetch(`${app.url}${path}`, { ...init, headers: { ...init?.headers, authorization } }),
  };
}
