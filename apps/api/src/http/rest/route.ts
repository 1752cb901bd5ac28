import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '@muster/core';
import type { Context } from '../../graphql/context.ts';
import type { AccessRule } from '../../modules/viewer/access-rule.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A parameter as it is documented; which query parameters a route takes is decided by this list alone. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface Body {
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly example: unknown;
}

export interface DocumentedAnswer {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: unknown;
  /** Absent: application/json. */
  readonly contentType?: 'text/event-stream' | 'application/x-ndjson' | 'text/csv';
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request on its way through a route. */
export interface RestCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Decoded parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** Known names only, none of them twice. */
  readonly query: ReadonlyMap<string, string>;
  readonly context: Context;
  /** Aborted when the caller is gone, or the server stops. */
  readonly signal: AbortSignal;
  /** Open event streams, ended at a stop. */
  readonly streams: Set<ServerResponse>;
  readonly keepAliveMs: number | undefined;
}

export interface RestAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

/** A route: what it does and what is said of it. The OpenAPI document is made of the same list. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Parts in braces are parameters: `/executions/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Whom it lets in. */
  readonly access: AccessRule;
  readonly parameters: readonly Parameter[];
  readonly body?: Body;
  /** By status. */
  readonly answers: Readonly<Record<number, DocumentedAnswer>>;
  /** Beside those that every route has. */
  readonly errors: readonly ErrorCode[];
  /** A page of the admin app has the same address: browsers that ask for HTML get that. */
  readonly sharedWithPage?: boolean;
  /** What is cut off must not look whole: where the credential ends meanwhile, the connection breaks. */
  readonly partsAreUseless?: boolean;
  /** null: it has answered by itself, with a stream. */
  handle(call: RestCall): Promise<RestAnswer | null>;
}

export type RouteMatch =
  | { readonly route: Route; readonly rawParams: Readonly<Record<string, string>> }
  | { readonly allow: readonly string[] };

/** Finds the route of an address: the route, the methods that the address has, or null where there is no such address. HEAD is GET. */
export function matchRoute(routes: readonly Route[], method: string, path: string): RouteMatch | null {
  const segments = path.split('/');
  const wanted = method === 'HEAD' ? 'GET' : method;
  const allow: string[] = [];
  for (const route of routes) {
    const rawParams = matchPath(route.path.split('/'), segments);
    if (rawParams === null) continue;
    if (route.method === wanted) return { route, rawParams };
    allow.push(route.method);
  }
  if (allow.length === 0) return null;
  return { allow: allow.includes('GET') ? ['HEAD', ...allow] : allow };
}

function matchPath(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (part.startsWith('{')) {
      if (segment === '') return null;
      params[part.slice(1, -1)] = segment;
    } else if (part !== segment) return null;
  }
  return params;
}
