import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Server } from '../support/server.ts';
import { Caller, type Data, send, sendBytes, statusesOf } from './support/calls.ts';
import { administrator, logIn, newPrincipal, newRole } from './support/people.ts';

/** What is smuggled in by headers, and what is written where it would be read by people: logs, the audit, spreadsheets. */
let server: Server;
let admin: Caller;

beforeAll(async () => {
  server = await Server.start();
  admin = administrator(server);
  await admin.ask('mutation { registerWorkflow(input: { name: "routed" }) { created } }');
});
afterAll(() => server.dispose());

const RUN = '/workflows/default/routed/run/async';
const executions = async (): Promise<number> =>
  (await admin.ask('{ executions { totalCount } }')).executions.totalCount;

/** A run by a bare socket, with these lines among its headers. */
function run(lines: readonly string[], body = '1', length = `Content-Length: ${body.length}`): Promise<string> {
  const head = [
    `POST ${RUN} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${server.token}`,
    'Connection: close',
    ...lines,
  ];
  return sendBytes(server, Buffer.from(`${[...head, length].filter(Boolean).join('\r\n')}\r\n\r\n${body}`, 'latin1'));
}

describe('a routing header that is smuggled starts nothing', () => {
  test.each<[string, readonly string[]]>([
    ['routing input sent twice', ['X-Flux-Routing-Input: {"a":1}', 'X-Flux-Routing-Input: {"a":2}']],
    ['routing input sent twice, once in odd case', ['X-Flux-Routing-Input: {"a":1}', 'x-fLUX-rOUTING-iNPUT: {"a":2}']],
    ['two objects in one routing input', ['X-Flux-Routing-Input: {"a":1}, {"a":2}']],
    ['one key twice in routing input', ['X-Flux-Routing-Input: {"a":1,"a":2}']],
    ['one key twice, once escaped', ['X-Flux-Routing-Input: {"a":1,"\\u0061":2}']],
    ['routing input encoded as in an address', ['X-Flux-Routing-Input: %7B%22a%22%3A1%7D']],
    ['routing input in base64', ['X-Flux-Routing-Input: eyJhIjoxfQ==']],
    ['routing input that is no UTF-8', ['X-Flux-Routing-Input: {"a":"\xff\xfe"}']],
    ['routing input of 5,000 bytes', [`X-Flux-Routing-Input: {"a":"${'x'.repeat(5_000)}"}`]],
    ['routing input 100 deep', [`X-Flux-Routing-Input: ${'{"a":'.repeat(100)}1${'}'.repeat(100)}`]],
    ['routing input that is no object', ['X-Flux-Routing-Input: [1]']],
    ['a required worker sent twice', ['X-Flux-Require-Worker: a', 'X-Flux-Require-Worker: b']],
    ['two required workers in one header', ['X-Flux-Require-Worker: a, b']],
    ['a required worker with half a character', ['X-Flux-Require-Worker: \xed\xa0\x80']],
    ['a session key twice', ['X-Session-Key: a', 'X-Session-Key: b', 'Idempotency-Key: a', 'Idempotency-Key: b']],
    ['a header that goes on in the next line', ['X-Flux-Routing-Input: {"a":', ' 1}', '\t']],
    ['a header whose name ends in a blank', ['X-Flux-Routing-Input : {"a":1}']],
    ['a bare carriage return in a header', ['X-A: 1\rX-Flux-Require-Worker: a']],
    ['a NUL in a header', ['X-Flux-Require-Worker: a\0b']],
    ['65,536 bytes of headers', [`X-A: ${'x'.repeat(65_536)}`]],
    ['ten thousand headers', Array.from({ length: 10_000 }, (_, n) => `X-${n}: 1`)],
  ])('%s', async (_name, lines) => {
    const before = await executions();
    const answer = await run(lines);
    const [status = 0] = statusesOf(answer);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(answer).not.toContain('"id":"ex_');
    expect(await executions()).toBe(before);
  });

  test.each<[string, string, string]>([
    ['a length and chunks', '5\r\n{"a":\r\n0\r\n\r\n', 'Content-Length: 3\r\nTransfer-Encoding: chunked'],
    [
      'chunks and a length',
      '0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n',
      'Transfer-Encoding: chunked\r\nContent-Length: 60',
    ],
    ['two lengths', '1', 'Content-Length: 1\r\nContent-Length: 2'],
    ['a length that is no number', '1', 'Content-Length: +1'],
    ['chunks under another name', '0\r\n\r\n', 'Transfer-Encoding: xchunked'],
    ['chunks twice', '0\r\n\r\n', 'Transfer-Encoding: chunked, chunked'],
    ['a chunk whose size is no number', 'zz\r\n1\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'],
  ])('a second request inside the first by %s', async (_name, body, length) => {
    const before = await executions();
    const statuses = statusesOf(await run([], body, length));
    expect(statuses.length).toBeLessThanOrEqual(1);
    expect(statuses[0] ?? 400).toBe(400);
    expect(await executions()).toBe(before);
  });

  test('one that a proxy would have taken for another (underscores) routes nothing', async () => {
    const { body } = await admin.rest('POST', RUN, '1', {
      x_flux_require_worker: 'nobody-here',
      'x_flux-routing_input': '{"a":1}',
    });
    const { execution } = await admin.ask('query ($id: ID!) { execution(id: $id) { requiredWorker } }', {
      id: body.id ?? body.execution?.id,
    });
    expect(execution.requiredWorker).toBeNull();
  });

  test.each([
    '/executions/ex_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f/cancel',
    '/executions/ex_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f/resume',
  ])('routing input where nothing is routed is refused, not dropped (%s)', async (path) => {
    const reply = await admin.rest('POST', path, '1', { 'x-flux-routing-input': '{"a":1}' });
    expect([reply.status, reply.body.error.code]).toEqual([400, 'ROUTING_INPUT_INVALID']);
  });

  test('routing input in an address, where logs would keep it, is refused', async () => {
    const query = 'query ($i: PreviewInput!) { previewDispatch(input: $i) { outcome } }';
    const variables = JSON.stringify({ i: { workflow: 'default/routed', routingInput: { a: 'canary-in-address' } } });
    const reply = await admin.rest(
      'GET',
      `/graphql?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(variables)}`,
    );
    expect(reply.status).toBe(400);
    expect((await admin.rest('POST', `${RUN}?routing_input=canary-in-address`, '1')).status).toBe(400);
    expect(server.output).not.toContain('canary-in-address');
  });

  test('binding to a worker by a header takes the permission to target it', async () => {
    await newRole(server, 'runs-only', ['workflow:*:*:run', 'execution:*:read']);
    const runner = await newPrincipal(server, 'runs-only', ['runs-only']);
    const known = (await admin.ask('{ workers { nodes { name } } }')).workers.nodes[0].name;
    const replies = await Promise.all(
      [known, 'nobody-here'].map((name) => runner.rest('POST', RUN, '1', { 'x-flux-require-worker': name })),
    );
    expect(replies.map(({ status }) => status)).toEqual([403, 403]);
  });
});

describe('an address that is claimed is not believed', () => {
  test.each(['x-forwarded-for', 'x-real-ip', 'forwarded', 'x-client-ip', 'cf-connecting-ip', 'true-client-ip'])(
    'by %s, in the audit',
    async (name) => {
      const value = name === 'forwarded' ? 'for=203.0.113.77' : '203.0.113.77';
      await admin.post(
        'mutation ($n: String!) { createAccessRole(input: { name: $n, permissions: [] }) { role { name } } }',
        { n: `by-${name}` },
        { [name]: value },
      );
      const { auditEntries } = await admin.ask(
        `{ auditEntries(filter: { target: "role:by-${name}" }) { nodes { address } } }`,
      );
      expect(auditEntries.nodes[0].address).toMatch(/^(127\.0\.0\.1|::1)$/);
    },
  );

  test('by X-Forwarded-Proto, to have TLS taken for granted', async () => {
    const { headers } = await send(server, '/', { headers: { 'x-forwarded-proto': 'https' } });
    expect(headers['strict-transport-security']).toBeUndefined();
  });
});

describe('a log keeps its lines', () => {
  const FORGED = '{"level":"info","msg":"forged-4711"}';
  const lines = (): Data[] =>
    server.output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));

  test.each<[string, () => Promise<unknown>]>([
    ['the id of a request', () => admin.post('{ viewer { name } }', {}, { 'x-request-id': `a ${FORGED}` })],
    ['the id of a request, with colours', () => run(['X-Request-Id: \x1b[31mred\x1b[0m'])],
    ['the name of a browser', () => logIn(server, { token: 'wrong-wrong-wrong' }, { 'user-agent': `x ${FORGED}` })],
    [
      'a path',
      () => sendBytes(server, `GET /%0a${encodeURIComponent(FORGED)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
    ],
    [
      'a name',
      () =>
        admin.post('mutation ($n: String!) { registerWorkflow(input: { name: $n }) { created } }', {
          n: `a\n${FORGED}`,
        }),
    ],
    [
      'a description',
      () =>
        admin.post(
          'mutation ($n: String!) { registerWorkflow(input: { name: "lines", description: $n }) { created } }',
          { n: `a\n${FORGED}\u001b[2J` },
        ),
    ],
    ['the name of a login', () => logIn(server, { name: `a\n${FORGED}`, password: 'x' })],
    ['an unknown method', () => sendBytes(server, `FORGED4711 / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)],
  ])('whatever is in %s', async (_name, attack) => {
    await attack();
    // Every line is one object of ours, and none says what the attacker wanted it to say.
    for (const line of lines()) expect([line.msg, line.requestId ?? 'none']).not.toContain('forged-4711');
    // oxlint-disable-next-line no-control-regex -- what is looked for is control characters
    expect(server.output).not.toMatch(/^.*forged-4711.*$|\u001b\[(31m|2J)/m);
  });

  test('the id of a request is given back only where it is harmless', async () => {
    for (const id of ['a'.repeat(65), 'a b', '<script>', "'; --", 'ü'].map((one) =>
      Buffer.from(one).toString('latin1'),
    )) {
      const reply = await admin.post('{ viewer { name } }', {}, { 'x-request-id': id });
      expect(reply.headers['x-request-id']).toMatch(/^[\w-]{36}$/);
    }
  });

  test('a line break that is written into an answer’s header stays out of it', async () => {
    for (const path of [
      '/workers/a%0d%0aSet-Cookie:%20x=1',
      '/%0d%0aSet-Cookie:%20x=1',
      '/login/oidc?return=%0d%0aSet-Cookie:%20x=1',
    ]) {
      const { headers } = await admin.rest('GET', path);
      expect(headers['set-cookie']).toBeUndefined();
    }
  });
});

describe('the audit', () => {
  test.each(["=cmd|' /C calc'!A0", '+1+1', '-2+3', '@SUM(1+1)', '\t=1+1', '\r=1+1'])(
    'is no formula in a spreadsheet, whatever somebody calls himself (%j)',
    async (formula) => {
      // The one text of a caller that begins a cell.
      await admin.post(
        'mutation ($d: String) { createAccessRole(input: { name: "formula", description: $d, permissions: [] }) { role { name } } }',
        { d: formula },
      );
      const { text } = await admin.rest('GET', '/admin/audit.csv');
      const cells = text
        .split('\r\n')
        .slice(1)
        .flatMap((row) => row.split(','));
      expect(cells.length).toBeGreaterThan(10);
      for (const cell of cells) expect(cell).not.toMatch(/^"?[=+\-@\t\r]/);
      await admin.post('mutation { deleteAccessRole(input: { name: "formula" }) { name } }');
    },
  );

  test('is exported to nobody who may not read it', async () => {
    const operator = await newPrincipal(server, 'audit-operator', ['operator']);
    for (const path of ['/admin/audit.csv', '/admin/audit.jsonl']) {
      expect((await operator.rest('GET', path)).status).toBe(403);
      expect((await new Caller(server, null).rest('GET', path)).status).toBe(401);
    }
  });

  test('is changed and removed by nobody: no field of the schema does', async () => {
    const { __schema } = await admin.ask('{ __schema { mutationType { fields { name } } } }');
    expect(__schema.mutationType.fields.filter(({ name }: { name: string }) => /audit/i.test(name))).toEqual([]);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect((await admin.rest(method, '/admin/audit.jsonl')).status).toBe(405);
  });
});
