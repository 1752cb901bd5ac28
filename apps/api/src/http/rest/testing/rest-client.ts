import { request } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openApiText } from '../routes.ts';

export interface RestResult {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
  // Tests read what they asked for.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface SendOptions {
  /** Values are sent byte by byte: a text stands for its UTF-8. A list is sent as so many headers. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
  /** null: none. */
  readonly token?: string | null;
}

export type Send = (method: string, path: string, options?: SendOptions) => Promise<RestResult>;

interface Operation {
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema: object }> }>>;
}

const document = JSON.parse(openApiText) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: object };
};
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', components: document.components });

/** Sends requests as a script would, and holds every answer against the OpenAPI document. */
export function restClient(app: { url: string; adminToken: string }): Send {
  return async (method, path, options = {}) => {
    const result = await send(app, method, path, options);
    const problem = misfit(method, path.split('?')[0] ?? '', result);
    if (problem !== null) throw new Error(`${method} ${path} → ${result.status}: ${problem}\n${result.text}`);
    return result;
  };
}

function send(
  app: { url: string; adminToken: string },
  method: string,
  path: string,
  options: SendOptions,
): Promise<RestResult> {
  const { hostname, port } = new URL(app.url);
  const token = options.token === undefined ? app.adminToken : options.token;
  const headers: Record<string, string | string[]> = token === null ? {} : { authorization: `Bearer ${token}` };
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    headers[name] = typeof value === 'string' ? asBytes(value) : value.map(asBytes);
  }
  return new Promise((resolve, reject) => {
    const call = request({ hostname, port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const json = String(response.headers['content-type']).startsWith('application/json') && text !== '';
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: json ? JSON.parse(text) : undefined,
        });
      });
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(options.body);
  });
}

function asBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** What does not fit the document, or null. Addresses and methods that it does not have are answered with an error of the one shape. */
function misfit(method: string, path: string, { status, headers, body }: RestResult): string | null {
  if (path === '/openapi.json' || method === 'HEAD') return null;
  const operation = operationOf(method, path);
  if (operation === null && status !== 404 && status !== 405) return 'nothing has this address';
  const response = operation?.responses[status];
  if (operation !== null && response === undefined) return 'this status is not documented';
  const type = String(headers['content-type']).split(';')[0] ?? '';
  const schema = operation === null ? { $ref: '#/components/schemas/Error' } : response?.content?.[type]?.schema;
  if (body === undefined) return schema === undefined && status !== 204 ? `${type} is not documented` : null;
  if (schema === undefined) return `${type} is not documented`;
  const text = JSON.stringify(schema).replaceAll('"#/', '"openapi#/');
  const validate = ajv.compile(JSON.parse(text));
  return validate(body) ? null : ajv.errorsText(validate.errors);
}

function operationOf(method: string, path: string): Operation | null {
  for (const [pattern, operations] of Object.entries(document.paths)) {
    const matches = new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
    if (matches) return operations[method.toLowerCase()] ?? null;
  }
  return null;
}
