import { request } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  /** Every cookie that was set, as `name=value; …`. */
  readonly cookies: readonly string[];
  readonly text: string;
  // Tests read what they asked for.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

/** One request as a browser sends it, which `fetch` does not: with Origin and cookies, and without following. A header of null is left out. */
export function browse(
  address: string,
  method: string,
  options: { headers?: Readonly<Record<string, string | null>>; json?: unknown; form?: string } = {},
): Promise<Reply> {
  const { origin } = new URL(address);
  const given = {
    ...(method === 'GET' ? {} : { origin }),
    ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(options.form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    ...options.headers,
  };
  const headers = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== null),
  ) as NodeJS.Dict<string>;
  return new Promise((resolve, reject) => {
    const call = request(address, { method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => {
        const isJson = (response.headers['content-type'] ?? '').startsWith('application/json');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          cookies: response.headers['set-cookie'] ?? [],
          text,
          body: isJson ? JSON.parse(text) : null,
        });
      });
    });
    call.on('error', reject);
    call.end(options.json === undefined ? options.form : JSON.stringify(options.json));
  });
}

/** `name=value` of the first cookie whose name begins so; null: none was set. */
export function cookieOf({ cookies }: Reply, prefix: string): string | null {
  return cookies.find((cookie) => cookie.startsWith(prefix))?.split(';')[0] ?? null;
}
