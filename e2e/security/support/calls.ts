import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import type { Server } from '../../support/server.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- attacks read whatever comes back
export type Data = any;

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; null where it is no JSON. */
  readonly body: Data;
}

/** One request on a connection of its own, exactly as it is given: nothing is added, followed, normalised or kept. */
export function send(
  server: Pick<Server, 'port'>,
  path: string,
  options: { method?: string; headers?: OutgoingHttpHeaders; body?: string | Buffer } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options;
    const call = request({ host: '127.0.0.1', port: server.port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) }),
      );
    });
    call.on('error', reject);
    call.end(body);
  });
}

/** The same with a JSON body. */
export function sendJson(
  server: Pick<Server, 'port'>,
  path: string,
  json: unknown,
  headers: OutgoingHttpHeaders = {},
): Promise<Reply> {
  return send(server, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof json === 'string' ? json : JSON.stringify(json),
  });
}

/** Writes bytes to a bare socket and answers all that came back when the server has closed it. The bytes must make it close. */
export function sendBytes({ port }: Pick<Server, 'port'>, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setTimeout(30_000, () => socket.destroy());
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    // A reset is a refusal too; what came before it counts.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

/** The statuses of all answers in what a bare socket got. */
export function statusesOf(answer: string): number[] {
  return [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
}

/** An answer of GraphQL. */
export interface Answer extends Reply {
  readonly data: Data;
  /** Of the first error; null: there is none. */
  readonly code: string | null;
  readonly message: string | null;
}

/** Somebody who calls the API with one credential, or with none. */
export class Caller {
  readonly server: Pick<Server, 'port'>;
  readonly token: string | null;

  constructor(server: Pick<Server, 'port'>, token: string | null) {
    this.server = server;
    this.token = token;
  }

  get headers(): { authorization?: string } {
    return this.token === null ? {} : { authorization: `Bearer ${this.token}` };
  }

  async post(query: string, variables?: unknown, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
    return answerOf(await sendJson(this.server, '/graphql', { query, variables }, { ...this.headers, ...headers }));
  }

  /** The data of an answer that must be without errors. */
  async ask(query: string, variables?: unknown): Promise<Data> {
    const answer = await this.post(query, variables);
    if (answer.code !== null || answer.data == null) throw new Error(`${query}: ${answer.text}`);
    return answer.data;
  }

  /** The code of the error, or null. */
  async code(query: string, variables?: unknown): Promise<string | null> {
    return (await this.post(query, variables)).code;
  }

  rest(method: string, path: string, body?: string, headers: OutgoingHttpHeaders = {}): Promise<Reply> {
    return send(this.server, path, {
      method,
      headers: { ...this.headers, ...headers },
      ...(body === undefined ? {} : { body }),
    });
  }
}

export function answerOf(reply: Reply): Answer {
  const { data = null, errors = [] }: { data?: Data; errors?: Data[] } = reply.body ?? {};
  const [first] = errors;
  return { ...reply, data, code: first?.extensions?.code ?? null, message: first?.message ?? null };
}

function parsed(text: string): Data {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
