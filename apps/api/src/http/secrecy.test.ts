import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, testDatabaseKind } from '@muster/db/testing';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../testing/test-app.ts';

/** Routing input is never shown to anyone, also where the call that carries it is broken (ruling 22). */
const CANARY = 'CANARY-93f1';
const CANARY_KEY = 'cohortcanary';

let server: ChildProcess;
let output = '';
let url: string;
let token: string;
let dataDir: string;
let removeDatabase: () => Promise<void>;

beforeAll(async () => {
  const { target, remove } = await createTestDatabase(testDatabaseKind());
  removeDatabase = remove;
  dataDir = typeof target === 'string' ? await mkdtemp(join(tmpdir(), 'muster-secrecy-')) : target.dataDir;
  const tsx = createRequire(import.meta.url).resolve('tsx');
  server = spawn(process.execPath, ['--import', tsx, fileURLToPath(new URL('../main.ts', import.meta.url))], {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      MUSTER_DATA_DIR: dataDir,
      LOG_LEVEL: 'trace',
      ...(typeof target === 'string' ? { DATABASE_URL: target } : {}),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  server.stdout?.on('data', (chunk) => (output += String(chunk)));
  server.stderr?.on('data', (chunk) => (output += String(chunk)));
  url = await until(() => /is up: (http:\/\/[^/]+)\//.exec(output)?.[1], 'the server');
  token = (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim();
  await post(JSON.stringify({ query: 'mutation { registerWorkflow(input: { name: "chat" }) { created } }' }));
});

afterAll(async () => {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill();
  await ended;
  await removeDatabase();
  await rm(dataDir, { recursive: true, force: true });
});

async function post(body: string, accept = 'application/json'): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept },
    body,
  });
  return { status: response.status, text: await response.text() };
}

/** Everything that comes back over a WebSocket for one message, up to its error, its completion or the close. */
function overSocket(message: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    let received = '';
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { token } })));
    socket.on('message', (data) => {
      received += String(data);
      const { type } = JSON.parse(String(data)) as { type: string };
      if (type === 'connection_ack') socket.send(message);
      if (type === 'error' || type === 'complete') socket.close();
    });
    socket.on('close', (code, reason) => resolve(`${received} ${code} ${String(reason)}`));
    socket.on('error', reject);
  });
}

const RUN = 'mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }';
const PREVIEW = 'query ($input: PreviewInput!) { previewDispatch(input: $input) { winner } }';
const routingInput = { [CANARY_KEY]: CANARY };
const literal = `{ ${CANARY_KEY}: "${CANARY}" }`;

/** [what is wrong, document, variables, what the answer must name]. */
const cases: [string, string, unknown, string][] = [
  [
    'a variable: an unknown sibling',
    RUN,
    { input: { workflow: 'default/chat', routingInput, extra: 1 } },
    '$input.extra',
  ],
  ['a variable: a missing required sibling', RUN, { input: { routingInput } }, '$input.workflow'],
  [
    'a variable: a sibling of the wrong type',
    RUN,
    { input: { workflow: 'default/chat', routingInput, priority: CANARY } },
    '$input.priority',
  ],
  ['a variable: the whole input is a list', RUN, { input: [routingInput, 3] }, '$input'],
  [
    'a variable: routing input is a text',
    RUN,
    { input: { workflow: 'default/chat', routingInput: CANARY } },
    'routingInput',
  ],
  [
    'a variable: routing input is too large',
    RUN,
    { input: { workflow: 'default/chat', routingInput: { [CANARY_KEY]: CANARY.repeat(500) } } },
    'routingInput',
  ],
  [
    'a literal: an unknown sibling',
    `mutation { runWorkflow(input: { workflow: "default/chat", routingInput: ${literal}, extra: "${CANARY}" }) { execution { id } } }`,
    undefined,
    'runWorkflow.input.extra',
  ],
  [
    'a literal: a missing required sibling',
    `mutation { runWorkflow(input: { routingInput: ${literal} }) { execution { id } } }`,
    undefined,
    'workflow',
  ],
  [
    'a literal: a sibling of the wrong type',
    `mutation { runWorkflow(input: { workflow: "default/chat", priority: "${CANARY}", routingInput: ${literal} }) { execution { id } } }`,
    undefined,
    'runWorkflow.input.priority',
  ],
  [
    'a literal: a key twice',
    `mutation { runWorkflow(input: { workflow: "default/chat", routingInput: { ${CANARY_KEY}: 1, ${CANARY_KEY}: "${CANARY}" } }) { execution { id } } }`,
    undefined,
    'routingInput',
  ],
  [
    'a literal: a bare name as value',
    `mutation { runWorkflow(input: { workflow: "default/chat", routingInput: { ${CANARY_KEY}: ${CANARY.replace('-', '_')} } }) { execution { id } } }`,
    undefined,
    'routingInput',
  ],
  [
    'a syntax error beside it',
    `mutation { runWorkflow(input: { routingInput: ${literal} "${CANARY}" }) { execution { id } } }`,
    undefined,
    'syntax error',
  ],
  [
    'a preview: an unknown sibling',
    PREVIEW,
    { input: { workflow: 'default/chat', routingInput, [CANARY]: 1 } },
    '$input',
  ],
  [
    'a preview: weights of the wrong type',
    PREVIEW,
    { input: { workflow: 'default/chat', routingInput, weights: [CANARY] } },
    '$input.weights.0',
  ],
  [
    'a preview literal: an undefined variable in it',
    `query { previewDispatch(input: { routingInput: { ${CANARY_KEY}: $${CANARY.replace('-', '_')} } }) { winner } }`,
    undefined,
    'routingInput',
  ],
  [
    'a preview literal: a nullable variable where a value must be',
    `query ($w: String) { previewDispatch(input: { workflow: $w, routingInput: ${literal}, targetRoles: [$w] }) { winner } }`,
    {},
    '',
  ],
  [
    'a field that does not exist, after it',
    `query { previewDispatch(input: { routingInput: ${literal} }) { winnerr } }`,
    undefined,
    'winnerr',
  ],
];

const leaks = (text: string): boolean => /CANARY/i.test(text);

describe('a broken call that carries routing input', () => {
  it.each(cases)('%s: is told without it over HTTP', async (_what, query, variables, named) => {
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const { status, text } = await post(JSON.stringify({ query, variables }), accept);
      expect(leaks(text)).toBe(false);
      const [error] = (
        JSON.parse(text) as { errors: { message: string; extensions: { code: string; requestId: string } }[] }
      ).errors;
      expect(['BAD_INPUT', 'ROUTING_INPUT_INVALID']).toContain(error?.extensions.code);
      expect(status).toBe(error?.extensions.code === 'BAD_INPUT' ? 400 : 200);
      expect(text).toContain(named);
      expect(error?.extensions.requestId).toBeTruthy();
    }
  });

  it.each(cases)('%s: is told without it over WebSocket', async (_what, query, variables, named) => {
    const received = await overSocket(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables } }));
    expect(leaks(received)).toBe(false);
    expect(received).toMatch(/BAD_INPUT|ROUTING_INPUT_INVALID/);
    expect(received).toContain(named);
  });

  it('is refused where a key stands twice in its JSON, of which a parser would keep the last', async () => {
    const id = '"id": "1", "type": "subscribe", "payload":';
    const run = JSON.stringify(RUN);
    const own =
      '{ "query": "mutation ($r: RoutingInput) { runWorkflow(input: { workflow: \\"chat\\", routingInput: $r }) { execution { id } } }"';
    for (const body of [
      `{ "query": ${run}, "variables": { "input": { "workflow": "chat", "routingInput": { "a": 1, "a": "${CANARY}" } } } }`,
      `{ "query": ${run}, "variables": { "input": { "workflow": "chat", "routingInput": { "a": { "b": 1, "\\u0062": "${CANARY}" } } } } }`,
      `{ "query": ${run}, "variables": { "input": { "workflow": "chat", "routingInput": {}, "routing\\u0049nput": { "a": "${CANARY}" } } } }`,
      `${own}, "variables": { "r": { "a": 1, "a": "${CANARY}" } } }`,
    ]) {
      const { status, text } = await post(body);
      const received = await overSocket(`{ ${id} ${body} }`);
      for (const answer of [text, received]) {
        expect(answer).toContain('ROUTING_INPUT_INVALID');
        expect(leaks(answer)).toBe(false);
      }
      expect(status).toBe(400);
    }
    const { status, text } = await post(
      `{ "query": "mutation ($i: JSON) { runWorkflow(input: { workflow: \\"chat\\", input: $i }) { execution { id } } }", "variables": { "i": { "a": 1, "a": 2 } } }`,
    );
    expect([status, text]).toEqual([200, expect.stringContaining('ex_')]);
  });

  it('is told without it where the body is no JSON', async () => {
    const { status, text } = await post(
      `{"query": "${RUN}", "variables": {"input": {"routingInput": {"${CANARY_KEY}": "${CANARY}"}`,
    );
    expect(status).toBe(400);
    expect(leaks(text)).toBe(false);
  });

  it('closes a WebSocket without it where the message is no JSON, or none of the protocol', async () => {
    for (const message of [
      `{"id": "1", "routingInput": "${CANARY}"`,
      JSON.stringify({ id: '1', type: CANARY }),
      JSON.stringify({ id: '1', type: 'subscribe', payload: CANARY }),
    ]) {
      const received = await overSocket(message);
      expect(received).toContain('4400');
      expect(leaks(received)).toBe(false);
    }
  });

  it('is refused over GET', async () => {
    const query = encodeURIComponent(`query { previewDispatch(input: { routingInput: ${literal} }) { winner } }`);
    const response = await fetch(`${url}/graphql?query=${query}`, { headers: { authorization: `Bearer ${token}` } });
    const text = await response.text();
    expect(response.status).toBe(400);
    expect(text).toContain('POST');
    expect(leaks(text)).toBe(false);
  });

  it('has left nothing in the output of the process', async () => {
    // A good call shows that the output was read: its request id and the names of its keys stand in the log, and no value.
    const { text } = await post(
      JSON.stringify({
        query:
          'mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id routing: state } } }',
        variables: { input: { workflow: 'default/chat', routingInput: { region: CANARY } } },
      }),
    );
    expect(leaks(text)).toBe(false);
    await until(() => output.includes('"routingKeys":["region"]'), 'the log line');
    expect(leaks(output)).toBe(false);
  });
});
