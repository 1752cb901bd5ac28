import { ClientError, errorFromWire, unavailable, type WireError } from './client-error.ts';
import type { TypedDocument } from './typed-document.ts';

export interface ClientOptions {
  /** Where the server is, e.g. `http://127.0.0.1:4000`; `/graphql` is added. */
  readonly url: string;
  /** Bearer token. Absent: the browser's session cookie. */
  readonly token?: string;
  /** Milliseconds until a request counts as failed; 70,000 where absent (the longest `waitSeconds` is 60). */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

export interface Client {
  /** Runs one query or mutation; throws {@link ClientError}. */
  request<TResult, TVariables>(
    document: TypedDocument<TResult, TVariables>,
    variables: TVariables,
    options?: { readonly signal?: AbortSignal },
  ): Promise<TResult>;
}

interface WireAnswer {
  readonly data?: unknown;
  readonly errors?: readonly WireError[];
}

/** A client over HTTP: one POST per request, no state. For subscriptions and many small requests see `createLiveLink`. */
export function createClient(options: ClientOptions): Client {
  const endpoint = graphqlEndpoint(options.url);
  const send = options.fetch ?? fetch;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/graphql-response+json, application/json',
  };
  if (options.token !== undefined) headers['authorization'] = `Bearer ${options.token}`;

  return {
    async request(document, variables, { signal } = {}) {
      const timeout = AbortSignal.timeout(options.timeoutMs ?? 70_000);
      let response: Response;
      let text: string;
      try {
        response = await send(endpoint, {
          method: 'POST',
          headers,
          body: JSON.stringify({ query: document.toString(), variables }),
          signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        });
        text = await response.text();
      } catch (error) {
        if (signal?.aborted === true) throw error;
        const why = timeout.aborted ? 'did not answer in time' : 'cannot be reached';
        throw unavailable(`The server at ${options.url} ${why}.`, error);
      }
      return readAnswer(response.status, text) as never;
    },
  };
}

/** `http(s)://host[/base]` → its GraphQL endpoint. Throws ClientError BAD_INPUT where it is no such URL. */
export function graphqlEndpoint(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new ClientError('BAD_INPUT', `'${url}' is not an http:// or https:// URL.`);
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}/graphql`;
}

function readAnswer(status: number, text: string): unknown {
  let answer: WireAnswer | undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) answer = parsed;
  } catch {
    // Not JSON: a proxy, or not our server; the status says what there is to say.
  }
  if (answer?.errors !== undefined && answer.errors.length > 0) throw errorFromWire(answer.errors);
  if (answer?.data !== undefined && answer.data !== null) return answer.data;
  throw new ClientError(codeOfStatus(status), `The server answered with status ${status} and no GraphQL result.`);
}

function codeOfStatus(status: number): string {
  if (status === 401) return 'UNAUTHENTICATED';
  if (status === 403) return 'FORBIDDEN';
  if (status === 404) return 'NOT_FOUND';
  if (status === 413) return 'TOO_LARGE';
  if (status === 429) return 'RATE_LIMITED';
  return status >= 500 ? 'UNAVAILABLE' : 'BAD_INPUT';
}
