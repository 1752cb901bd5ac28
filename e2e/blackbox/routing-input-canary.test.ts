import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { registerWorkflow } from '../support/fleet.ts';
import { Server } from '../support/server.ts';

/** Appears in every malformed call, and nowhere else. */
const canary = `canary-${randomBytes(9).toString('hex')}`;

const run = 'mutation Run($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }';
const preview = 'query Preview($input: PreviewInput!) { previewDispatch(input: $input) { outcome } }';
const runPart =
  'mutation Run($r: RoutingInput) { runWorkflow(input: { workflow: "e2e/canary", routingInput: $r }) { execution { id } } }';

/** Bodies as they travel; each is wrong in a way of its own, and carries the canary where routing input would stand. */
const malformed: readonly { readonly name: string; readonly body: string }[] = [
  {
    name: 'a JSON body that breaks off',
    body: `{"query":${JSON.stringify(run)},"variables":{"input":{"workflow":"e2e/canary","routingInput":{"arm":"${canary}"`,
  },
  {
    name: 'a document with a syntax error',
    body: JSON.stringify({
      query: `mutation { runWorkflow(input: { workflow: "e2e/canary", routingInput: { arm: "${canary}" }) { `,
    }),
  },
  {
    name: 'a string that does not end',
    body: JSON.stringify({
      query: `mutation { runWorkflow(input: { workflow: "e2e/canary", routingInput: { arm: "${canary}\n`,
    }),
  },
  {
    name: 'an array, as variable',
    body: JSON.stringify({ query: run, variables: { input: { workflow: 'e2e/canary', routingInput: [canary] } } }),
  },
  {
    name: 'an array, as literal',
    body: JSON.stringify({
      query: `mutation { runWorkflow(input: { workflow: "e2e/canary", routingInput: ["${canary}"] }) { execution { id } } }`,
    }),
  },
  { name: 'a string, as a variable of its own', body: JSON.stringify({ query: runPart, variables: { r: canary } }) },
  {
    name: 'a key with a dot, as variable',
    body: JSON.stringify({
      query: run,
      variables: { input: { workflow: 'e2e/canary', routingInput: { [`a.${canary}`]: canary } } },
    }),
  },
  {
    name: 'an unknown sibling key, as variable',
    body: JSON.stringify({
      query: run,
      variables: { input: { workflow: 'e2e/canary', bogus: 1, routingInput: { arm: canary } } },
    }),
  },
  {
    name: 'an unknown sibling key, as literal',
    body: JSON.stringify({
      query: `mutation { runWorkflow(input: { workflow: "e2e/canary", bogus: 1, routingInput: { arm: "${canary}" } }) { execution { id } } }`,
    }),
  },
  {
    name: 'a missing required sibling',
    body: JSON.stringify({ query: run, variables: { input: { routingInput: { arm: canary } } } }),
  },
  {
    name: 'a sibling of a wrong type in a preview',
    body: JSON.stringify({
      query: preview,
      variables: { input: { workflow: { not: 'text' }, routingInput: { arm: canary } } },
    }),
  },
  {
    name: 'a value that is too long in a preview',
    body: JSON.stringify({
      query: preview,
      variables: { input: { workflow: 'e2e/canary', routingInput: { arm: canary + 'x'.repeat(5000) } } },
    }),
  },
];

let server: Server;
beforeAll(async () => {
  server = await Server.start({ env: { LOG_LEVEL: 'trace' } });
  await registerWorkflow(server, 'e2e', 'canary');
});
afterAll(() => server.dispose());

/** Status line, headers and body, as they came. */
function overHttp(body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
    const sent = request(`${server.url}/graphql`, { method: 'POST', headers }, (response) => {
      let text = `${response.statusMessage ?? ''}\n${response.rawHeaders.join('\n')}\n`;
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Everything that comes back until the operation has ended or the socket is closed, its close reason included. */
function overWebSocket(payload: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    let text = '';
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { token: server.token } })));
    socket.on('message', (data: Buffer) => {
      const message = data.toString('utf8');
      text += `${message}\n`;
      const { type } = JSON.parse(message) as { type: string };
      if (type === 'connection_ack') socket.send(`{"type":"subscribe","id":"1","payload":${payload}}`);
      if (type === 'error' || type === 'complete') socket.close();
    });
    socket.on('close', (code, reason) => resolve(`${text}${code} ${reason.toString('utf8')}`));
    socket.on('error', reject);
  });
}

test('there are twelve malformed calls', () => {
  expect(new Set(malformed.map((call) => call.name)).size).toBe(12);
  expect(malformed.filter((call) => !call.body.includes(canary))).toEqual([]);
});

test.for(malformed)('HTTP: $name is refused without a word of it', async ({ body }) => {
  const { status, text } = await overHttp(body);
  expect(text).toMatch(/BAD_INPUT|ROUTING_INPUT_INVALID/);
  expect([200, 400]).toContain(status);
  expect(text).not.toContain(canary);
});

test.for(malformed)('WebSocket: $name is refused without a word of it', async ({ body }) => {
  const text = await overWebSocket(body);
  expect(text).toContain('connection_ack');
  expect(text).not.toContain('"data":{"runWorkflow"');
  expect(text).not.toContain(canary);
});

test('nothing of it was printed, and the server is well', async () => {
  // A marker of our own shows that what was printed before it has arrived here.
  const marker = await overHttp('{"query":"{ viewer { name } }"}');
  expect(marker.status).toBe(200);
  await server.stop();
  expect(server.output).not.toContain(canary);
  expect(server.output.length).toBeGreaterThan(0);
});
