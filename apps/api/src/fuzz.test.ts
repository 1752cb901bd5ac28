import { Agent, request } from 'node:http';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildSchema } from './graphql/schema.ts';
import { startTestApp, type TestApp } from './testing/test-app.ts';
import { type RandomRequest, randomRequests, targets } from './testing/fuzz/random-requests.ts';

/** How many in one run; MUSTER_FUZZ_REQUESTS asks for another number, a multiple of those at once. */
const REQUESTS = Number(process.env['MUSTER_FUZZ_REQUESTS'] ?? 400);
const AT_ONCE = 20;
/** Another one is tried by MUSTER_FUZZ_SEED; a failure prints the request that it was boiled down to, and the seed. */
const SEED = Number(process.env['MUSTER_FUZZ_SEED'] ?? 20_261_130);
/** What of an event stream is read before it is given up. */
const STREAM_MS = 20;

let app: TestApp;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const rejections: unknown[] = [];
const onRejection = (reason: unknown): void => void rejections.push(reason);

beforeAll(async () => {
  process.on('unhandledRejection', onRejection);
  app = await startTestApp({ rates: { requests: 0, strangers: 0, price: 0 } });
});
afterAll(async () => {
  process.off('unhandledRejection', onRejection);
  agent.destroy();
  await app.close();
});

/** Status and text of the answer; of a stream what came at first. */
function send({ method, path, headers, body }: RandomRequest): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const authorization = `Bearer ${app.adminToken}`;
    const options = { agent, port: app.port, host: '127.0.0.1', method, path, headers: { ...headers, authorization } };
    const call = request(options, (response) => {
      let text = '';
      const done = (): void => resolve({ status: response.statusCode ?? 0, text });
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', done);
      response.on('close', done);
      response.on('error', done);
      if (response.headers['content-type']?.startsWith('text/event-stream'))
        setTimeout(() => response.destroy(), STREAM_MS);
    });
    call.on('error', reject);
    call.end(body ?? undefined);
  });
}

async function known() {
  await app.ask('mutation { registerWorkflow(input: { name: "chat" }) { created } }');
  await app.ask(
    'mutation { createDeployment(input: { slug: "chat", variants: [{ label: "a", flowId: "default/chat", weight: 1 }] }) { warnings } }',
  );
  const { runWorkflow } = await app.ask(
    'mutation { runWorkflow(input: { workflow: "default/chat" }) { execution { id workflow { id } version { id } } } }',
  );
  const { execution } = runWorkflow as { execution: { id: string; workflow: { id: string }; version: { id: string } } };
  return {
    names: ['chat', 'default', 'default/chat', 'w-1', 'a', 'api', 'admin', 'viewer', 'workflow:*:read'],
    ids: [execution.id, execution.workflow.id, execution.version.id, `ex_${'0'.repeat(32)}`],
  };
}

/** What is no mistake of the server's: a deployment of which nobody can run a variant is told with 503. */
function isFailure({ status, text }: { status: number; text: string }): boolean {
  if (/"code":"(?:INTERNAL|UNAVAILABLE)"/.test(text)) return true;
  return status === 0 || (status >= 500 && !text.includes('NO_HEALTHY_VARIANT'));
}

it('answers random requests for every field and route, each with an answer of its own', async () => {
  const schema = buildSchema();
  expect(targets(schema)).toBeGreaterThan(70);
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(randomRequests(schema, await known()), { minLength: AT_ONCE, maxLength: AT_ONCE }),
      async (requests) => {
        const answers = await Promise.all(requests.map(send));
        for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const broken = answers.findIndex(isFailure);
        if (broken !== -1)
          throw new Error(`${JSON.stringify(requests[broken])}\nwas answered: ${JSON.stringify(answers[broken])}`);
      },
    ),
    { numRuns: REQUESTS / AT_ONCE, seed: SEED },
  );
  const answered = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  expect(answered).toBe(REQUESTS);
  // Well-formed ones were among them.
  expect(statuses.get(200) ?? 0).toBeGreaterThan(REQUESTS / 10);
  expect(rejections).toEqual([]);
  expect(app.lines.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([]);
  expect(app.lines.filter((line) => line.includes(app.adminToken) || /bearer/i.test(line))).toEqual([]);
  await app.ask('{ viewer { name } executions(first: 1) { totalCount } }');
}, 900_000);
