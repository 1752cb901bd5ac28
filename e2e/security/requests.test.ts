import { gzipSync } from 'node:zlib';
import WebSocket from 'ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Server } from '../support/server.ts';
import { Caller, send, sendBytes, sendJson, statusesOf } from './support/calls.ts';
import { administrator, newPrincipal } from './support/people.ts';

/** Requests that are made to be dear, to break a parser, or to become something else than data. */
let server: Server;
let admin: Caller;
let viewer: Caller;

beforeAll(async () => {
  server = await Server.start();
  admin = administrator(server);
  viewer = await newPrincipal(server, 'requests-viewer', ['viewer']);
  await admin.ask('mutation { registerWorkflow(input: { name: "job", description: "plain" }) { created } }');
});
afterAll(() => server.dispose());

const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, n) => make(n)).join(' ');
const nested = (levels: number, [open, core, close]: readonly [string, string, string]): string =>
  open.repeat(levels) + core + close.repeat(levels);

/** Still there, and nobody else has become an administrator meanwhile. */
async function expectUnharmed(): Promise<void> {
  expect((await send(server, '/healthz')).status).toBe(200);
  expect((await new Caller(server, null).post('{ viewer { name } }')).status).toBe(401);
  expect((await viewer.post('mutation { registerWorkflow(input: { name: "no" }) { created } }')).code).toBe(
    'FORBIDDEN',
  );
  expect(server.output).not.toMatch(/unhandled|"level":"fatal"|heap out of memory/i);
}

describe('a document that would cost too much is refused before it runs', () => {
  test.each<[string, string]>([
    ['an alias bomb', `{ ${times(500, (n) => `a${n}: fleetMetrics { at }`)} }`],
    ['an alias bomb in a fragment', `{ ...F } fragment F on Query { ${times(200, (n) => `a${n}: viewer { name }`)} }`],
    [
      'lists in lists in lists',
      '{ workflows(first: 200) { nodes { versions(first: 200) { nodes { workflow { versions(first: 200) { nodes { id } } } } } } } }',
    ],
    [
      'executions of children of children',
      '{ executions(first: 200) { nodes { children(first: 200) { nodes { events(first: 200) { nodes { id } } } } } } }',
    ],
    ['a deep document', `{ executions { nodes { ${nested(60, ['parent { ', 'id', ' }'])} } } }`],
    ['a fragment that holds itself', '{ ...A } fragment A on Query { viewer { name } ...A }'],
    ['fragments that hold each other', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'],
    [
      'fragments that double with each level',
      `{ ...F0 } ${times(40, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F40 on Query { viewer { name } }`,
    ],
    ['the same field a thousand times', `{ ${times(3_000, () => 'viewer { name }')} }`],
    ['a flood of directives', `{ viewer ${times(600, () => '@include(if: true)')} { name } }`],
    ['a flood of unknown directives', `{ viewer ${times(600, (n) => `@d${n}`)} { name } }`],
    ['a thousand operations', times(1_000, (n) => `query Q${n} { viewer { name } }`)],
    ['a million brackets', `{ ${'{'.repeat(1_000_000)}`],
    ['a million tokens', `{ ${'a '.repeat(1_000_000)} }`],
    ['a list of a hundred thousand ids', `{ nodes(ids: [${'"ex_1",'.repeat(100_000)}]) { id } }`],
    ['a list that is nested ten thousand times', `{ nodes(ids: ${nested(10_000, ['[', '', ']'])}) { id } }`],
    [
      'an introspection that goes round',
      `{ __schema { types { ${nested(30, ['fields { type { ', 'name', ' } }'])} } } }`,
    ],
    ['a page of a million', '{ executions(first: 1000000) { nodes { id } } }'],
    ['a page of less than nothing', '{ executions(first: -1) { nodes { id } } }'],
    ['ten thousand variables', `query (${times(10_000, (n) => `$v${n}: Int`)}) { viewer { name } }`],
  ])('%s', async (_name, query) => {
    const answer = await admin.post(query);
    expect([answer.status, answer.code]).toEqual([expect.any(Number), 'BAD_INPUT']);
    expect(answer.data).toBeNull();
    await expectUnharmed();
  });

  test('a batch of operations', async () => {
    const query = '{ viewer { name } }';
    const reply = await sendJson(
      server,
      '/graphql',
      Array.from({ length: 100 }, () => ({ query })),
      admin.headers,
    );
    expect(reply.status).toBe(400);
    expect(reply.text).not.toContain('"admin"');
  });

  test('a batch of runs in one mutation', async () => {
    const runs = Array.from({ length: 5_000 }, () => ({ workflow: 'default/job' }));
    const query =
      'mutation ($input: RunWorkflowsInput!) { runWorkflows(input: $input) { results { execution { id } } } }';
    expect(await admin.code(query, { input: { runs } })).toBe('BAD_INPUT');
    expect((await admin.ask('{ executions { totalCount } }')).executions.totalCount).toBe(0);
  });
});

describe('a body that is made to harm is refused', () => {
  test('one of 17 MiB', async () => {
    const body = JSON.stringify({ query: '{ viewer { name } }', extensions: 'x'.repeat(17 * 1_048_576) });
    const reply = await sendJson(server, '/graphql', body, admin.headers).catch(() => null);
    expect([413, undefined]).toContain(reply?.status);
    await expectUnharmed();
  });

  test('one that says that it is of 100 GiB', async () => {
    const answer = await sendBytes(
      server,
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 107374182400\r\n\r\n{`,
    );
    expect(statusesOf(answer)).toEqual([413]);
  });

  test('a megabyte of somebody unknown is not read', async () => {
    const reply = await sendJson(server, '/graphql', { query: `{ viewer { name } } #${'x'.repeat(1_048_576)}` }).catch(
      () => null,
    );
    expect([401, undefined]).toContain(reply?.status);
  });

  test.each<[string, string]>([
    ['arrays nested a hundred thousand deep', nested(100_000, ['[', '', ']'])],
    ['objects nested a hundred thousand deep', nested(100_000, ['{"a":', '1', '}'])],
    ['a body that is cut off', '{"query":"{ viewer'],
    ['two bodies in one', '{"query":"{ viewer { name } }"}{"query":"{ viewer { name } }"}'],
    ['null', 'null'],
    ['a number', '1e999'],
    ['a query that is an object', '{"query":{"toString":"x"}}'],
    ['variables that are text', '{"query":"{ viewer { name } }","variables":"{}"}'],
    [
      'an operation’s name from the prototype',
      '{"query":"query toString { viewer { name } } query b { viewer { name } }","operationName":"constructor"}',
    ],
  ])('%s', async (_name, body) => {
    const reply = await sendJson(server, '/graphql', body, admin.headers);
    expect([400, 413]).toContain(reply.status);
    await expectUnharmed();
  });

  test('a value as deep as its body may be is refused by its own bound, and by REST too', async () => {
    const deep = nested(70, ['[', '', ']']);
    const body = `{"query":"mutation ($i: RunWorkflowInput!) { runWorkflow(input: $i) { execution { id } } }","variables":{"i":{"workflow":"default/job","input":${deep}}}}`;
    expect((await sendJson(server, '/graphql', body, admin.headers)).text).toMatch(/BAD_INPUT|TOO_LARGE/);
    const reply = await admin.rest('POST', '/workflows/default/job/run/async', nested(100_000, ['[', '', ']']));
    expect([400, 413]).toContain(reply.status);
  });

  test('one that is packed, and would be large unpacked', async () => {
    const body = gzipSync(JSON.stringify({ query: '{ viewer { name } }', x: 'x'.repeat(64 * 1_048_576) }));
    const headers = { ...admin.headers, 'content-type': 'application/json', 'content-encoding': 'gzip' };
    expect((await send(server, '/graphql', { method: 'POST', headers, body })).status).toBe(400);
  });

  test.each<[string, Buffer]>([
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('{"query":"{ viewer { name } }"}', 'utf16le')],
    ['an overlong slash', Buffer.concat([Buffer.from('{"query":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])],
  ])('%s', async (_name, body) => {
    const headers = { ...admin.headers, 'content-type': 'application/json' };
    expect((await send(server, '/graphql', { method: 'POST', headers, body })).status).toBe(400);
  });

  test.each([
    ['a NUL', '\u0000'],
    ['half a character', '\ud800'],
    ['another half', '\udc00'],
    ['a turn of direction', '\u202e'],
    ['a newline', 'a\nb'],
    ['a hundred thousand characters', 'x'.repeat(100_000)],
  ])('a name with %s', async (_name, text) => {
    const codes = await Promise.all([
      admin.code('mutation ($t: String!) { registerWorkflow(input: { name: $t }) { created } }', { t: text }),
      admin.code('mutation ($t: String!) { createPrincipal(input: { name: $t }) { principal { id } } }', { t: text }),
      admin.code(
        'mutation ($t: String!) { createAccessRole(input: { name: $t, permissions: [] }) { role { name } } }',
        { t: text },
      ),
      admin.code('mutation ($t: String!) { createJoinToken(input: { worker: $t }) { secret } }', { t: text }),
    ]);
    expect(codes).toEqual(Array.from({ length: 4 }, () => 'BAD_INPUT'));
  });

  test.each(['9007199254740993', '1e400', '-1e400', '99999999999999999999'])(
    'the number %s, where a number is kept',
    async (number) => {
      const body = `{"query":"mutation ($i: RunWorkflowInput!) { runWorkflow(input: $i) { execution { id } } }","variables":{"i":{"workflow":"default/job","priority":${number}}}}`;
      const reply = await sendJson(server, '/graphql', body, admin.headers);
      expect(reply.body.errors[0].extensions.code).toBe('BAD_INPUT');
    },
  );
});

describe('a WebSocket', () => {
  const open = (token: string | null) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
    });
    const messages: string[] = [];
    socket.on('message', (data) => messages.push(String(data)));
    socket.on('error', () => undefined);
    const opened = new Promise<void>((resolve) => socket.on('open', () => resolve()));
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    return { socket, messages, opened, closed };
  };
  const ask = (id: string, query: string): string => JSON.stringify({ id, type: 'subscribe', payload: { query } });

  test('of nobody is asked for nothing before it says who it is', async () => {
    const { socket, messages, opened, closed } = open(null);
    await opened;
    socket.send(ask('1', '{ viewer { name } }'));
    expect([4401, 4400]).toContain(await closed);
    expect(messages.join()).not.toContain('admin');
  });

  test('of nobody with a wrong token is closed', async () => {
    const { socket, closed, opened } = open(null);
    await opened;
    socket.send('{"type":"connection_init","payload":{"token":"mst_wrong"}}');
    expect(await closed).toBe(4401);
  });

  test('of nobody does not have a megabyte read', async () => {
    const { socket, closed, opened } = open(null);
    await opened;
    socket.send(`{"type":"connection_init","payload":{"token":"${'x'.repeat(1_048_576)}"}}`);
    expect([4400, 1009]).toContain(await closed);
  });

  test('with a message of 17 MiB is closed', async () => {
    const { socket, closed, opened } = open(server.token);
    await opened;
    socket.send(`"${'x'.repeat(17 * 1_048_576)}"`);
    expect([1009, 1006]).toContain(await closed);
    await expectUnharmed();
  });

  test('that asks under one id twice is closed', async () => {
    const { socket, closed, opened } = open(server.token);
    await opened;
    socket.send('{"type":"connection_init"}');
    const stream = 'subscription { fleetMetrics { at } }';
    socket.send(ask('1', stream));
    socket.send(ask('1', stream));
    expect([4409, 4401]).toContain(await closed);
  });

  test('that floods with thousands of messages holds nobody up', async () => {
    const { socket, opened, closed } = open(viewer.token);
    await opened;
    socket.send('{"type":"connection_init"}');
    for (let n = 0; n < 5_000; n += 1)
      socket.send(n % 2 === 0 ? '{"type":"ping"}' : ask(`f${n}`, '{ viewer { name } }'));
    expect((await admin.post('{ viewer { name } }')).code).toBeNull();
    socket.terminate();
    await closed;
    await expectUnharmed();
  });

  test('with what is no message is closed, and the server goes on', async () => {
    for (const message of [
      '',
      '{',
      'null',
      '[]',
      '{"type":"__proto__"}',
      '{"type":"subscribe"}',
      nested(50_000, ['[', '', ']']),
    ]) {
      const { socket, opened, closed } = open(server.token);
      await opened;
      socket.send(message);
      expect([4400, 4401, 1011]).toContain(await closed);
    }
    await expectUnharmed();
  });
});
