import { connect } from 'node:net';
import { workflow } from '@muster/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';
import { restClient, type RestResult, type Send, type SendOptions } from './testing/rest-client.ts';

/** Stands in every routing input, good or broken, and must be nowhere else than in the table made for it (ruling 22). */
const CANARY = 'CANARY-5d20';
const HEADER = 'X-Flux-Routing-Input';

let app: TestApp;
let send: Send;
const answers: string[] = [];
const inputs: unknown[] = [];
const routed = workflow(
  { name: 'routed', affinity: 'require(optional(label("cohort") == routing_input("cohort")))' },
  (ctx) => {
    inputs.push(ctx);
    return { got: ctx.input, context: Object.keys(ctx) };
  },
);
const town = workflow({ name: 'town', affinity: 'require(meta("town") == routing_input("town"))' }, () => 'here');

beforeAll(async () => {
  app = await startTestApp({ embeddedWorker: true }, { workflows: [routed, town] });
  send = restClient(app);
  await until(() => app.plane.fleet.get('api-test')?.eligible, 'the worker');
  await app.ask(
    'mutation { createDeployment(input: { slug: "d", variants: [{ label: "a", flowId: "default/routed", weight: 1 }] }) { warnings } }',
  );
});
afterAll(() => app.close());

const seen = (result: RestResult): RestResult => {
  answers.push(`${JSON.stringify(result.headers)}\n${result.text}`);
  return result;
};
const run = async (path: string, options: SendOptions): Promise<RestResult> => seen(await send('POST', path, options));

/** The answer came before the end, and nobody can take it: how soon the dispatcher says so is its own matter. */
async function parked({ status, body }: RestResult): Promise<void> {
  expect([status, body.state]).toEqual([202, 'PENDING']);
  await until(async () => seen(await send('GET', `/executions/${body.id}`)).body.parked === true, 'it parks');
}

describe('routing input over REST', () => {
  it.each(['/workflows/default/routed', '/deployments/d'])(
    'routes %s by it, in every mode, and shows none of it',
    async (target) => {
      const fits = { headers: { [HEADER]: `{"other":"${CANARY}-ü"}` }, body: '1' };
      expect((await run(`${target}/run/sync`, fits)).body).toMatchObject({ state: 'COMPLETED', output: { got: 1 } });
      const streamed = await run(`${target}/run/stream`, fits);
      expect(streamed.text).toContain('event: COMPLETED');
      const parks = { headers: { [HEADER]: `{"cohort":"${CANARY}"}`, prefer: 'wait=1' }, body: '1' };
      const waiting = await run(`${target}/run/sync`, parks);
      await parked(waiting);
      const expiring = await run(`${target}/run/stream?park_ttl=1`, parks);
      expect(expiring.text).toContain('event: FAILED');
      expect(expiring.text).toContain('routing constraint unsatisfied');
      const { body } = await run(`${target}/run/async`, parks);
      for (const path of [`/executions/${body.id}`, `/executions/${waiting.body.id}`]) seen(await send('GET', path));
      seen(await send('POST', `/executions/${body.id}/cancel`));
    },
  );

  it('reads the bytes of the header as UTF-8', async () => {
    await send('PUT', '/admin/workers/api-test/metadata/town', { body: '"Zürich-東"' });
    const right = { headers: { [HEADER]: '{"town":"Zürich-東"}', prefer: 'wait=20' } };
    expect((await run('/workflows/default/town/run/sync', right)).body.state).toBe('COMPLETED');
    const wrong = { headers: { [HEADER]: '{"town":"Zurich-東"}', prefer: 'wait=1' } };
    await parked(await run('/workflows/default/town/run/sync', wrong));
  });

  it.each<[string, SendOptions, string]>([
    ['broken JSON', { headers: { [HEADER]: `{"cohort":"${CANARY}"` } }, 'JSON_SYNTAX'],
    ['an empty header', { headers: { [HEADER]: '' } }, 'JSON_SYNTAX'],
    ['a text', { headers: { [HEADER]: `"${CANARY}"` } }, 'NOT_AN_OBJECT'],
    ['null', { headers: { [HEADER]: 'null' } }, 'NOT_AN_OBJECT'],
    ['a list', { headers: { [HEADER]: `["${CANARY}"]` } }, 'NOT_AN_OBJECT'],
    ['a list as value', { headers: { [HEADER]: `{"a":["${CANARY}"]}` } }, 'VALUE_INVALID'],
    ['a key with a dot', { headers: { [HEADER]: `{"a.${CANARY}":1}` } }, 'KEY_DOTTED'],
    ['a key with a dot, deep', { headers: { [HEADER]: `{"a":{"b.${CANARY}":1}}` } }, 'KEY_DOTTED'],
    ['a key twice', { headers: { [HEADER]: `{"a":1,"a":"${CANARY}"}` } }, 'JSON_DUPLICATE_KEY'],
    ['too many bytes', { headers: { [HEADER]: `{"a":"${CANARY.repeat(400)}"}` } }, 'TOO_LONG'],
    ['two headers', { headers: { [HEADER]: [`{"a":"${CANARY}"}`, `{"a":"${CANARY}"}`] } }, 'REPEATED'],
    ['a number beyond a double', { headers: { [HEADER]: `{"${CANARY}":1e999}` } }, 'JSON_NUMBER_TOO_LARGE'],
  ])('refuses %s without a word of it', async (_what, options, code) => {
    for (const mode of ['async', 'sync', 'stream']) {
      for (const target of ['/workflows/default/routed', '/deployments/d', '/workflows/default/none']) {
        const { status, body } = await run(`${target}/run/${mode}`, { ...options, body: '{"real":"payload"}' });
        expect([status, body.error.code, body.error.field, body.error.issues[0].code]).toEqual([
          400,
          'ROUTING_INPUT_INVALID',
          HEADER,
          code,
        ]);
      }
    }
  });

  it('refuses bytes that are no UTF-8, instead of routing by other ones', async () => {
    const { port } = new URL(app.url);
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1');
      let received = '';
      socket.on('data', (chunk) => (received += chunk.toString('latin1')));
      socket.on('close', () => resolve(received));
      socket.on('error', reject);
      const head = `POST /workflows/default/routed/run/async HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${app.adminToken}\r\nContent-Length: 0\r\n`;
      socket.write(
        Buffer.concat([
          Buffer.from(`${head}${HEADER}: {"cohort":"${CANARY}`),
          Buffer.from([0xff]),
          Buffer.from('"}\r\n\r\n'),
        ]),
      );
    });
    answers.push(text);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('ROUTING_INPUT_INVALID');
  });

  it('is refused where it would be dropped, and not told where it stands beside an error', async () => {
    const headers = { [HEADER]: `{"cohort":"${CANARY}"}` };
    const at = `/executions/ex_${'0'.repeat(32)}`;
    expect((await run(`${at}/resume`, { headers })).body.error.code).toBe('ROUTING_INPUT_INVALID');
    expect((await run(`${at}/cancel`, { headers })).body.error.code).toBe('ROUTING_INPUT_INVALID');
    const beside: [string, SendOptions][] = [
      ['/workflows/default/none/run/async', { headers }],
      ['/workflows/default/routed/run/async?priority=x', { headers }],
      [`/workflows/default/routed/run/async?routing_input=${CANARY}`, { headers }],
      [`/workflows/default/routed/run/async?${CANARY}=1`, { headers }],
      ['/workflows/default/routed/run/async', { headers, body: `{"a":"${CANARY}"` }],
      ['/workflows/default/routed/run/async', { headers, body: `${'['.repeat(70)}"${CANARY}"${']'.repeat(70)}` }],
      ['/workflows/default/routed/run/async', { headers: { ...headers, 'X-Flux-Require-Worker': 'nobody' } }],
      ['/workflows/default/routed/run/async', { headers, token: 'wrong' }],
      ['/workflows/default/routed/run/nothing', { headers }],
      ['/deployments/none/run/async', { headers }],
    ];
    for (const [path, options] of beside) expect((await run(path, options)).status).toBeGreaterThanOrEqual(400);
  });

  it('changes nothing in what a worker gets, and is not said to be there', async () => {
    const plain = await send('POST', '/workflows/default/routed/run/sync', { body: '1' });
    const withIt = await run('/workflows/default/routed/run/sync', {
      headers: { [HEADER]: `{"x":"${CANARY}"}` },
      body: '1',
    });
    expect(Object.keys(withIt.body)).toEqual(Object.keys(plain.body));
    expect(withIt.body.output).toEqual(plain.body.output);
  });

  it('has left nothing in answers, log, handlers or tables', async () => {
    const everything =
      '{ executions(first: 50) { nodes { why parkedReason error { message } events(first: 30) { nodes { data } } decisions(first: 3) { nodes { reason explanation terms { text note } candidates { rejectedBecause rejections { message wanted had } cells { value } } } } } } }';
    const { text } = await app.post(everything);
    expect(text).toContain('routing constraint unsatisfied');
    const metrics = await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${app.adminToken}` } });
    answers.push(text, await metrics.text());
    expect(answers.length).toBeGreaterThan(100);
    expect(answers.filter((answer) => /canary/i.test(answer))).toEqual([]);
    expect(app.lines.some((line) => line.includes('"routingKeys":["cohort"]'))).toBe(true);
    expect(app.lines.filter((line) => /canary/i.test(line))).toEqual([]);
    expect(inputs.length).toBeGreaterThan(0);
    expect(JSON.stringify(inputs)).not.toMatch(/canary/i);
    expect(await tablesWith(CANARY)).toEqual(['execution_routing']);
  });
});

/** Names of the tables that have the text in any row. */
async function tablesWith(text: string): Promise<string[]> {
  const { database } = app.plane;
  const { rows: tables } = await database.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM "${name}" t WHERE t::text ILIKE '%' || $1 || '%'`,
      [text],
    );
    if ((rows[0]?.n ?? 0) > 0) found.push(name);
  }
  return found;
}
