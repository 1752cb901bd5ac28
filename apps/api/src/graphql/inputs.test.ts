import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/test-app.ts';

/** One answer to one fault, wherever it comes in. */
let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  await app.ask('mutation { registerWorkflow(input: { name: "chat" }) { created } }');
  await app.ask(
    'mutation { createDeployment(input: { slug: "chat", variants: [{ label: "a", flowId: "default/chat", weight: 1 }, { label: "b", flowId: "default/chat", weight: 0 }] }) { warnings } }',
  );
});
afterAll(() => app.close());

const RUN_DEPLOYMENT = 'mutation ($input: RunDeploymentInput!) { runDeployment(input: $input) { execution { id } } }';
const RUN_WORKFLOW = 'mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }';
const RESOLVE = 'query ($key: String) { resolveDeployment(slug: "chat", sessionKey: $key) { variant { label } } }';

const codeOf = async (query: string, variables: Record<string, unknown>): Promise<string> =>
  (await app.post(query, variables)).errors[0]?.extensions.code ?? 'accepted';

describe('a session key', () => {
  const everywhere = (key: unknown): Promise<string[]> =>
    Promise.all([
      codeOf(RUN_DEPLOYMENT, { input: { deployment: 'chat', sessionKey: key } }),
      codeOf(RESOLVE, { key }),
      codeOf('query ($key: String) { executions(filter: { sessionKey: $key }) { totalCount } }', { key }),
    ]);

  it('that is a number, a list or an object is BAD_INPUT everywhere', async () => {
    for (const key of [42, 4.5, true, ['42'], { a: 1 }])
      expect(await everywhere(key)).toEqual(['BAD_INPUT', 'BAD_INPUT', 'BAD_INPUT']);
    expect(await everywhere('42')).toEqual(['accepted', 'accepted', 'accepted']);
  });

  it('that no variant could be found by is BAD_INPUT where one is picked', async () => {
    for (const key of ['', 'a\0b', '\ud800', 'x'.repeat(1_025)])
      expect((await everywhere(key)).slice(0, 2)).toEqual(['BAD_INPUT', 'BAD_INPUT']);
  });
});

describe('a number', () => {
  const numbers = [2 ** 31, -(2 ** 31), 2 ** 31 - 1, 1e100, 1.5, '5', null];

  it('beyond its bounds is told with them, never by the database', async () => {
    for (const value of numbers) {
      const priority = await app.post(RUN_WORKFLOW, { input: { workflow: 'chat', priority: value } });
      const weight = await app.post(
        'mutation ($input: UpdateDeploymentInput!) { updateDeployment(input: $input) { deployment { revision } } }',
        {
          input: {
            slug: 'chat',
            expectedRevision: 1,
            variants: [{ label: 'a', flowId: 'default/chat', weight: value }],
          },
        },
      );
      const ttl = await app.post(RUN_WORKFLOW, { input: { workflow: 'chat', parkTtlSeconds: value } });
      const page = await app.post('query ($n: Int) { executions(first: $n) { totalCount } }', { n: value });
      // No priority, no TTL and no page size of the caller's own is fine; a weight must be there.
      const fine = value === null ? [priority, ttl, page] : [];
      for (const answer of [priority, weight, ttl, page]) {
        if (fine.includes(answer)) expect(answer.errors).toEqual([]);
        else if (answer !== weight || value !== 2 ** 31 - 1) {
          expect(answer.errors[0]?.extensions.code, `${String(value)}: ${answer.text}`).toBe('BAD_INPUT');
          expect(answer.text).not.toMatch(/int4|out of range|prisma|syntax/i);
        }
      }
    }
  });
});

describe('counting', () => {
  it('alone reads one count, however often it is selected', async () => {
    const texts: string[] = [];
    const send = pg.Client.prototype.query;
    pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
      const first = args[0] as string | { text: string };
      texts.push(typeof first === 'string' ? first : first.text);
      return (send as (...all: unknown[]) => unknown).apply(this, args);
    } as never;
    try {
      await app.ask('{ executions { totalCount again: totalCount totalCountExact } }');
    } finally {
      pg.Client.prototype.query = send;
    }
    const counts = texts.filter((text) => /count\(\*\)/.test(text) && /walked|FROM \(SELECT x\.id/.test(text));
    expect(counts).toHaveLength(1);
    expect(
      (await app.ask('{ workers { totalCount } workflows { totalCount } deployments { totalCount } }')).workflows,
    ).toEqual({ totalCount: 1 });
  });
});

describe('a changed weight', () => {
  it('counts from the very next call', async () => {
    const labels = async (): Promise<string[]> => {
      const found = await Promise.all(Array.from({ length: 20 }, (_, i) => app.ask(RESOLVE, { key: `s-${i}` })));
      return [...new Set(found.map(({ resolveDeployment }) => String(resolveDeployment.variant.label)))];
    };
    const { deployment } = await app.ask('{ deployment(slug: "chat") { revision } }');
    let revision = deployment.revision as number;
    for (const [a, b] of [
      [0, 1],
      [1, 0],
      [0, 1],
    ]) {
      const answer = await app.ask(
        'mutation ($input: UpdateDeploymentInput!) { updateDeployment(input: $input) { deployment { revision } } }',
        {
          input: {
            slug: 'chat',
            expectedRevision: revision,
            variants: [
              { label: 'a', flowId: 'default/chat', weight: a },
              { label: 'b', flowId: 'default/chat', weight: b },
            ],
          },
        },
      );
      revision = answer.updateDeployment.deployment.revision;
      expect(await labels()).toEqual([a === 1 ? 'a' : 'b']);
    }
  });
});
