import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { ClientError } from './client-error.ts';
import { createClient, graphqlEndpoint } from './http-client.ts';
import type { TypedDocument } from './typed-document.ts';

const hello = 'query Hello($name: String!) { hello(name: $name) }' as unknown as TypedDocument<
  { hello: string },
  { name: string }
>;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(status: number, body: string) {
  const requests: { headers: IncomingMessage['headers']; body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

async function failure(promise: Promise<unknown>): Promise<ClientError> {
  return await promise.then(
    () => {
      throw new Error('It should have failed.');
    },
    (error: ClientError) => error,
  );
}

test('sends document, variables and token, and gives back the data', async () => {
  const { url, requests } = await serve(200, '{"data":{"hello":"Ωμέγα"}}');
  const client = createClient({ url: `${url}/`, token: 'secret' });
  expect(await client.request(hello, { name: 'Ωμέγα' })).toEqual({ hello: 'Ωμέγα' });
  expect(requests[0]?.body).toEqual({ query: hello.toString(), variables: { name: 'Ωμέγα' } });
  expect(requests[0]?.headers).toMatchObject({ authorization: 'Bearer secret', 'content-type': 'application/json' });
});

test('an error of the server keeps code, request id, field and issues', async () => {
  const issues = [{ path: 'variants.0.weight', code: 'WEIGHT_NEGATIVE', message: 'Weight is -1; use 0 or more.' }];
  const extensions = { code: 'BAD_INPUT', requestId: 'r9', field: 'variants', issues };
  const { url } = await serve(200, JSON.stringify({ data: null, errors: [{ message: 'Bad.', extensions }] }));
  const error = await failure(createClient({ url }).request(hello, { name: 'x' }));
  expect(error).toMatchObject({ code: 'BAD_INPUT', requestId: 'r9', field: 'variants', issues, message: 'Bad.' });
});

test.each([
  [401, 'UNAUTHENTICATED'],
  [403, 'FORBIDDEN'],
  [404, 'NOT_FOUND'],
  [429, 'RATE_LIMITED'],
  [502, 'UNAVAILABLE'],
  [418, 'BAD_INPUT'],
])('status %i without a GraphQL result is %s', async (status, code) => {
  const { url } = await serve(status, '<html>');
  expect((await failure(createClient({ url }).request(hello, { name: 'x' }))).code).toBe(code);
});

test('a server that is not there is UNAVAILABLE and named', async () => {
  const { url } = await serve(200, '');
  for (const cleanup of cleanups.splice(0)) await cleanup();
  const error = await failure(createClient({ url }).request(hello, { name: 'x' }));
  expect(error.code).toBe('UNAVAILABLE');
  expect(error.message).toContain(url);
});

test('a caller who gives up gets its own abort', async () => {
  const { url } = await serve(200, '{"data":{}}');
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(createClient({ url }).request(hello, { name: 'x' }, { signal })).rejects.toThrow('enough');
});

test('endpoints: base paths are kept, anything but http is refused', () => {
  expect(graphqlEndpoint('http://h:1')).toBe('http://h:1/graphql');
  expect(graphqlEndpoint('https://h/base//')).toBe('https://h/base/graphql');
  expect(() => graphqlEndpoint('ftp://h')).toThrow("'ftp://h' is not an http");
  expect(() => graphqlEndpoint('h:4000')).toThrow('is not an http');
});
