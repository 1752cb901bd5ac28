import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workflow } from '@muster/worker';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';

/** A whole server with its own worker: what it lists was really run. */
let app: TestApp;
const RUNS = 120;
const echo = workflow({ name: 'echo', routing: 'score(least(load()))' }, (_context, input) => input);

beforeAll(async () => {
  app = await startTestApp({ embeddedWorker: true }, { workflows: [echo] });
  await until(() => app.plane.fleet.get('api-test')?.eligible, 'the worker');
  const runs = Array.from({ length: RUNS }, (_, i) => ({ workflow: 'default/echo', input: { i }, priority: i % 3 }));
  const { runWorkflows } = await app.ask(
    'mutation ($runs: [RunWorkflowInput!]!) { runWorkflows(input: { runs: $runs }) { results { id error { code } } } }',
    { runs },
  );
  expect(runWorkflows.results.every((result: { error: unknown }) => result.error === null)).toBe(true);
  await app.ask(
    'mutation { registerWorkflow(input: { name: "nobody", affinity: "{\\"zone\\": \\"moon\\"}" }) { created } }',
  );
  const mixed = await app.ask(
    'mutation { runWorkflows(input: { runs: [{ workflow: "default/nobody" }, { workflow: "nobody" }, { workflow: "default/none" }, { workflow: "default/nobody", priority: 5000 }] }) { results { id execution { state } error { code field } } } }',
  );
  expect(mixed.runWorkflows.results).toMatchObject([
    { execution: { state: 'PENDING' }, error: null },
    { execution: { state: 'PENDING' }, error: null },
    { id: null, execution: null, error: { code: 'NOT_FOUND', field: 'workflow' } },
    { id: null, execution: null, error: { code: 'BAD_INPUT', field: 'priority' } },
  ]);
  await until(
    async () =>
      (await app.ask('{ executions(filter: { states: [COMPLETED] }) { totalCount } }')).executions.totalCount === RUNS,
    'all completed',
  );
  await until(
    async () => (await app.ask('{ executions(filter: { parked: true }) { totalCount } }')).executions.totalCount === 2,
    'two parked',
  );
});
afterAll(() => app.close());

/** Texts of the statements that a piece of work sends, without what the server does by itself meanwhile. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const texts: string[] = [];
  const send = pg.Client.prototype.query;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const first = args[0] as string | { text: string };
    texts.push(typeof first === 'string' ? first : first.text);
    return (send as (...all: unknown[]) => unknown).apply(this, args);
  } as never;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = send;
  }
  return texts.filter(
    (text) => !/leadership|worker_pulse|queued|maintain_partitions|clock_timestamp\(\)\)::float8/.test(text),
  );
}

describe('a page of executions', () => {
  it('costs the same number of statements whatever it holds', async () => {
    const query = `query ($first: Int!) { executions(first: $first, filter: { states: [COMPLETED] }) { totalCount nodes {
      id workflowRef worker { name role } version { id number workflow { ref latest { number } } } latestDecision { winner version { number } candidates { worker total } } why input attempts { number decision { winner } } } } }`;
    const page = (first: number) => app.ask(query, { first });
    await page(1);
    const first = await page(100);
    expect(first.executions.nodes).toHaveLength(100);
    expect(first.executions.nodes[0]).toMatchObject({
      workflowRef: 'default/echo',
      worker: { name: 'api-test' },
      latestDecision: { winner: 'api-test' },
    });
    // The least of several tries: what the server does by itself falls into some of them.
    const least = async (size: number): Promise<number> => {
      const counts: number[] = [];
      for (let i = 0; i < 8; i++) counts.push((await statementsOf(() => page(size))).length);
      return Math.min(...counts);
    };
    const small = await least(10);
    const large = await least(100);
    expect(large).toBeGreaterThan(2);
    expect(large).toBeLessThanOrEqual(12);
    expect(large).toBe(small);
  });

  it('pages both ways without gap or repetition while others are made', async () => {
    const all = (
      await app.ask('{ executions(first: 200, filter: { workflow: "default/echo" }) { nodes { id } } }')
    ).executions.nodes.map(({ id }: { id: string }) => id);
    expect(all).toHaveLength(RUNS);
    expect(all).toEqual([...all].sort().reverse());
    for (const filter of [
      'filter: { workflow: "default/echo" }',
      'filter: { states: [COMPLETED] }',
      'filter: { worker: "api-test" }',
      'filter: { role: "api", namespace: "default" }',
      'filter: { states: [COMPLETED], workflow: "echo", finishedAfter: "2020-01-01T00:00:00Z" }',
    ]) {
      const forward: string[] = [];
      for (let after = ''; ; ) {
        const { nodes, pageInfo } = (
          await app.ask(
            `{ executions(first: 37, ${filter}${after}) { nodes { id } pageInfo { hasNextPage endCursor } } }`,
          )
        ).executions;
        forward.push(...nodes.map(({ id }: { id: string }) => id));
        if (!pageInfo.hasNextPage) break;
        after = `, after: "${pageInfo.endCursor}"`;
        await app.ask('mutation { runWorkflow(input: { workflow: "default/nobody" }) { execution { id } } }');
      }
      expect(forward).toEqual(all);
      const backward: string[] = [];
      for (let before = ''; ; ) {
        const { nodes, pageInfo } = (
          await app.ask(
            `{ executions(last: 50, ${filter}${before}) { nodes { id } pageInfo { hasPreviousPage startCursor } } }`,
          )
        ).executions;
        backward.unshift(...nodes.map(({ id }: { id: string }) => id));
        if (!pageInfo.hasPreviousPage) break;
        before = `, before: "${pageInfo.startCursor}"`;
      }
      expect(backward).toEqual(all);
    }
  });

  it('finds by every filter', async () => {
    const count = async (filter: string): Promise<number> =>
      (await app.ask(`{ executions(filter: { ${filter} }) { totalCount totalCountExact } }`)).executions.totalCount;
    const { executions } = await app.ask(
      '{ executions(first: 1, filter: { states: [COMPLETED] }) { nodes { id createdAt } } }',
    );
    const [{ id, createdAt }] = executions.nodes;
    expect(await count(`ids: ["${id}", "ex_nonsense"]`)).toBe(1);
    expect(await count(`search: "${id}"`)).toBe(1);
    expect(await count(`search: "${id.slice(3, 15)}", states: [COMPLETED]`)).toBeGreaterThan(0);
    expect(await count(`search: "no such session"`)).toBe(0);
    expect(await count(`createdBefore: "${createdAt}", states: [COMPLETED]`)).toBeLessThan(RUNS);
    expect(await count(`createdAfter: "${createdAt}", states: [COMPLETED]`)).toBeGreaterThan(0);
    expect(await count('states: [RUNNING, PAUSED, CANCELLING]')).toBe(0);
    expect(await count('worker: "nobody"')).toBe(0);
    expect(await count('deployment: "nothing"')).toBe(0);
    expect(await count('workflow: "default/nothing"')).toBe(0);
    expect(await count('requiredWorker: "api-test"')).toBe(0);
    expect(await count('parkedBefore: "2100-01-01T00:00:00Z"')).toBeGreaterThanOrEqual(2);
    const { executionCounts } = await app.ask('{ executionCounts { state count parked } }');
    expect(executionCounts).toContainEqual({ state: 'COMPLETED', count: RUNS, parked: 0 });
    const filtered = await app.ask('{ executionCounts(filter: { workflow: "default/echo" }) { state count parked } }');
    expect(filtered.executionCounts).toEqual([{ state: 'COMPLETED', count: RUNS, parked: 0 }]);
  });

  it('refuses what is no page and no cursor', async () => {
    for (const [args, field] of [
      ['first: 201', 'first'],
      ['last: -1', 'last'],
      ['first: 1, last: 1', 'last'],
      ['after: "nonsense"', 'after'],
      ['before: "💥"', 'before'],
      [`after: "${Buffer.from('["executions","x"]').toString('base64url')}"`, 'after'],
      [`after: "${Buffer.from('["executions"]').toString('base64url')}"`, 'after'],
    ]) {
      const { errors } = await app.post(`{ executions(${args}) { nodes { id } } }`);
      expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_INPUT', field });
    }
    const multiplied = await app.post(
      'query ($n: Int) { executions(first: $n) { nodes { children(first: $n) { nodes { id } } } } }',
      { n: 200 },
    );
    expect(multiplied.errors[0]?.message).toContain('at most 20000 nodes');
  });
});

describe('one execution', () => {
  it('is found as node and by id, tells its history and attempts, and why', async () => {
    const { runWorkflow } = await app.ask(
      'mutation { runWorkflow(input: { workflow: "echo", input: { a: 1 }, waitSeconds: 30 }) { execution { id state output workerName why worker { id } version { id workflow { id } } latestDecision { id } events { nodes { id } } } } }',
    );
    const { execution } = runWorkflow;
    expect(execution).toMatchObject({ state: 'COMPLETED', output: { a: 1 }, workerName: 'api-test' });
    const ids = [
      execution.id,
      execution.worker.id,
      execution.version.id,
      execution.version.workflow.id,
      execution.latestDecision.id,
      execution.events.nodes[0].id,
      'ex_nonsense',
      'wk_999999',
      'zz_1',
      `ex_${'f'.repeat(32)}`,
    ];
    const { nodes } = await app.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }', { ids });
    expect(nodes.map((node: { __typename: string } | null) => node?.__typename ?? null)).toEqual([
      'Execution',
      'Worker',
      'WorkflowVersion',
      'Workflow',
      'DispatchDecision',
      'ExecutionEvent',
      null,
      null,
      null,
      null,
    ]);
    expect(nodes.slice(0, 6).map((node: { id: string }) => node.id)).toEqual(ids.slice(0, 6));
    const again = await app.ask(
      'query ($id: ID!) { execution(id: $id) { why attempts { number outcome worker decision { winner } } events { totalCount nodes { sequence type } } decisions { totalCount nodes { winner } } whyWaiting { outcome } } }',
      { id: execution.id },
    );
    expect(again.execution).toMatchObject({
      why: execution.why,
      attempts: [{ number: 1, outcome: 'COMPLETED', worker: 'api-test', decision: { winner: 'api-test' } }],
      decisions: { totalCount: 1, nodes: [{ winner: 'api-test' }] },
      whyWaiting: null,
    });
    const types = again.execution.events.nodes.map(({ type }: { type: string }) => type);
    expect(types[0]).toBe('CREATED');
    expect(types.at(-1)).toBe('COMPLETED');
  });

  it('tells of each execution in a list what it tells of it alone (H17)', async () => {
    const fields = 'id state parked workerName attempt generation revision why';
    const { executions } = await app.ask(`{ executions(first: 130) { nodes { ${fields} } } }`);
    const states = new Set(executions.nodes.map((node: { state: string }) => node.state));
    expect([...states].toSorted()).toEqual(['COMPLETED', 'PENDING']);
    for (const node of [...executions.nodes.slice(0, 5), executions.nodes.at(-1)]) {
      const { execution } = await app.ask(`query ($id: ID!) { execution(id: $id) { ${fields} } }`, { id: node.id });
      expect(execution).toEqual(node);
    }
  });

  it('says why it waits, with all reasons per worker', async () => {
    const { executions } = await app.ask(
      '{ executions(first: 1, filter: { parked: true }) { nodes { parkedReason why latestDecision { explanation } whyWaiting { outcome winner explanation candidates { worker rejections { reason } } } } } }',
    );
    const [waiting] = executions.nodes;
    // One sentence everywhere: the first of the explanation.
    expect(waiting.why).toBe(waiting.latestDecision.explanation[0]);
    expect(waiting.whyWaiting).toMatchObject({ outcome: 'PARKED', winner: null });
    expect(waiting.whyWaiting.candidates[0].rejections.map(({ reason }: { reason: string }) => reason)).toContain(
      'AFFINITY_UNMET',
    );
  });

  it('keeps an idempotency key for one input', async () => {
    const run = (input: number) =>
      app.post(
        'mutation ($input: JSON) { runWorkflow(input: { workflow: "echo", input: $input, idempotencyKey: "once" }) { execution { id } } }',
        { input },
      );
    const answers = await Promise.all(Array.from({ length: 20 }, () => run(1)));
    expect(new Set(answers.map(({ data }) => data.runWorkflow.execution.id)).size).toBe(1);
    expect((await run(2)).errors[0]?.extensions.code).toBe('CONFLICT');
  });
});

describe('a preview', () => {
  it('stores nothing, warns of what nobody has, and replays a decision', async () => {
    const before = (await app.ask('{ decisions { totalCount } }')).decisions.totalCount;
    const { previewDispatch } = await app.ask(
      'query ($input: PreviewInput!) { previewDispatch(input: $input) { outcome winner method warnings terms { text weight } candidates { worker rank } } }',
      {
        input: { routing: 'score(most(metric("warmth"), weight=2), prefer(label("gpu") == "a100"))' },
      },
    );
    expect(previewDispatch).toMatchObject({ outcome: 'ASSIGNED', winner: 'api-test', method: 'ROUTING' });
    expect(previewDispatch.warnings).toEqual(['No worker has the metric "warmth".', 'No worker has the label "gpu".']);
    const { decisions } = await app.ask(
      '{ decisions(first: 1, filter: { outcomes: [ASSIGNED] }) { nodes { id winner } } }',
    );
    const replay = await app.ask(
      'query ($id: ID!) { previewDispatch(input: { decision: $id, weights: [5] }) { winner } }',
      { id: decisions.nodes[0].id },
    );
    expect(replay.previewDispatch.winner).toBe(decisions.nodes[0].winner);
    expect((await app.ask('{ decisions { totalCount } }')).decisions.totalCount).toBe(before);
  });

  it('checks policies and lists what the fleet sends', async () => {
    const { ok, bad, keys } = await app.ask(`{
      ok: checkPolicy(text: "score(least( load( ) ))", stage: ROUTING) { ok formatted problems { message } }
      bad: checkPolicy(text: "score(prefer(label('a') == 1, weigth=3), lest(load()))", stage: ROUTING) { ok problems { from to line column severity code } }
      keys: selectorKeys(kind: METRIC, prefix: "flux.") { key workers } }`);
    expect(ok).toEqual({ ok: true, formatted: 'score(least(load()))', problems: [] });
    expect(bad.ok).toBe(false);
    expect(bad.problems.length).toBeGreaterThanOrEqual(2);
    expect(keys).toContainEqual({ key: 'flux.running_executions', workers: 1 });
    const refused = await app.post(
      'mutation { registerWorkflow(input: { name: "bad", routing: "score(lest(load()))" }) { created } }',
    );
    expect(refused.errors[0]?.extensions).toMatchObject({
      code: 'POLICY_INVALID',
      issues: [{ path: 'routing', from: expect.any(Number) }],
    });
    const { fleetMetrics } = await app.ask(
      '{ fleetMetrics { workers healthyWorkers parked running capacity dispatchLatencyMs { p50 } parkedReasons { reason count } } }',
    );
    expect(fleetMetrics).toMatchObject({ workers: 1, healthyWorkers: 1, running: 0, capacity: null });
    expect(fleetMetrics.parked).toBeGreaterThanOrEqual(2);
  });
});

describe('registering a workflow', () => {
  it('makes a version only where something is new', async () => {
    const register = async (input: Record<string, unknown>) =>
      (
        await app.ask(
          'mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created version { number routingText } } }',
          { input: { name: 'versions', ...input } },
        )
      ).registerWorkflow;
    expect(await register({ routing: 'score(least(load()))' })).toEqual({
      created: true,
      version: { number: 1, routingText: 'score(least(load()))' },
    });
    expect(await register({ routing: 'score( least( load() ) )' })).toMatchObject({
      created: false,
      version: { number: 1 },
    });
    const all = await Promise.all(Array.from({ length: 6 }, () => register({ routing: 'score(most(metric("m")))' })));
    expect(all.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(all.map(({ version }) => version.number))).toEqual(new Set([2]));
  });
});

describe('a list of workflows', () => {
  it('takes the search as it is written, in any case', async () => {
    for (const name of ['sea_rch', 'seaXrch', 'sea.rch']) {
      await app.ask(
        'mutation ($name: String!) { registerWorkflow(input: { namespace: "find_me", name: $name }) { created } }',
        { name },
      );
    }
    const found = async (search: string): Promise<string[]> =>
      (
        await app.ask('query ($search: String) { workflows(search: $search) { nodes { name } totalCount } }', {
          search,
        })
      ).workflows.nodes.map(({ name }: { name: string }) => name);
    expect(await found('SEA_R')).toEqual(['sea_rch']);
    expect(await found('find_me/sea_')).toEqual(['sea_rch']);
    expect(await found('findXme/')).toEqual([]);
    expect(await found('d_me/seax')).toEqual(['seaXrch']);
    for (const nothing of ['%', 'sea%rch', '\\', 'sea\\_rch']) expect(await found(nothing)).toEqual([]);
  });
});
