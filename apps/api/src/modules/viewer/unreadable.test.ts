import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, subscribe, type TestApp, until } from '../../testing/test-app.ts';
import type { SignedIn } from '../../testing/sign-in.ts';
import { addresses, lookups, NOTHING_HAS } from '../../testing/lookups.ts';
import { absentId, executionOf, memberOf, type Team, twoTeams } from '../../testing/two-teams.ts';

let app: TestApp;
let ours: Team;
let theirs: Team;
let member: SignedIn;

beforeAll(async () => {
  app = await startTestApp();
  ({ ours, theirs } = await twoTeams(app));
  member = await memberOf(app, ours);
});
afterAll(() => app.close());

/** The texts of an answer that say which request it was, or what was asked for, do not count. */
function comparable(text: string, ...given: string[]): string {
  return given
    .filter((name) => name !== '')
    .reduce(
      (left, name) => left.replaceAll(name, 'NAME'),
      text.replace(/rq_[0-9a-z]+/gi, 'REQUEST').replace(/"requestId":"[^"]*"/g, '"requestId":""'),
    );
}

describe('what may not be read', () => {
  it.each(lookups)('looks as what is not there: %s', async (what, query, nameOf, name) => {
    const unreadable = nameOf(theirs);
    const absent = name === '' ? absentId(unreadable) : name;
    const [one, other] = await Promise.all([member.post(query, { x: unreadable }), member.post(query, { x: absent })]);
    expect(comparable(one.text, unreadable, unreadable.replace('/', ':'))).toBe(
      comparable(other.text, absent, absent.replace('/', ':')),
    );
    expect(one.status).toBe(other.status);
    expect(one.text).not.toContain('INTERNAL');
    // What is compared is something: of what he may read, he is told another thing.
    if (!query.startsWith('query') || NOTHING_HAS.has(what)) return;
    const mine = await member.post(query, { x: nameOf(ours) });
    expect(comparable(mine.text, nameOf(ours))).not.toBe(comparable(other.text, absent));
  });

  it.each(addresses)('looks so at the routes: %s %s', async (method, path, nameOf, name) => {
    const unreadable = nameOf(theirs);
    const absent = name === '' ? absentId(unreadable) : name;
    const ask = async (of: string): Promise<[number, string]> => {
      const body = method === 'PUT' ? '"b3"' : null;
      const answer = await member.fetch(path.replace('NAME', of), { method, body });
      return [answer.status, comparable(await answer.text(), of, of.replace('/', ':'))];
    };
    const [one, other] = await Promise.all([ask(unreadable), ask(absent)]);
    expect(one).toEqual(other);
    expect([403, 404]).toContain(one[0]);
  });

  it('is in no list and no count', async () => {
    const seen = await member.ask(`{
      workers { totalCount nodes { name } }
      workflows { totalCount nodes { ref } }
      deployments { totalCount nodes { slug } }
      schedules { totalCount nodes { name } }
      executions { totalCount totalCountExact nodes { workflowRef worker { name } } }
      last: executions(last: 1) { nodes { workflowRef } }
      decisions { totalCount nodes { winner execution { workflowRef } } }
      executionCounts { state count }
      selectorKeys(kind: LABEL) { key }
    }`);
    expect(seen.workers).toEqual({ totalCount: 1, nodes: [{ name: ours.worker }] });
    expect(seen.workflows).toEqual({ totalCount: 1, nodes: [{ ref: ours.workflow }] });
    expect(seen.deployments).toEqual({ totalCount: 1, nodes: [{ slug: ours.deployment }] });
    expect(seen.schedules).toEqual({ totalCount: 1, nodes: [{ name: ours.schedule }] });
    const execution = { workflowRef: ours.workflow, worker: { name: ours.worker } };
    expect(seen.executions).toEqual({ totalCount: 2, totalCountExact: true, nodes: [execution, execution] });
    expect(seen.last.nodes).toEqual([{ workflowRef: ours.workflow }]);
    const decision = { winner: ours.worker, execution: { workflowRef: ours.workflow } };
    expect(seen.decisions).toEqual({ totalCount: 2, nodes: [decision, decision] });
    expect(seen.executionCounts.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(2);
    const routes = await Promise.all(
      ['/workers', '/admin/workers'].map(async (path) => (await member.fetch(path)).json()),
    );
    for (const { workers } of routes as { workers: { name: string }[] }[])
      expect(workers.map(({ name }) => name)).toEqual([ours.worker]);
  });

  it('is not told of through what may be read', async () => {
    // Their worker has run what is ours, and our deployment has a variant of theirs.
    const { updateDeployment } = await app.ask(
      'mutation ($input: UpdateDeploymentInput!) { updateDeployment(input: $input) { deployment { revision } } }',
      {
        input: {
          slug: ours.deployment,
          expectedRevision: 1,
          variants: [
            { label: 'main', flowId: ours.workflow, weight: 1 },
            { label: 'other', flowId: theirs.workflow, weight: 0 },
          ],
        },
      },
    );
    expect(updateDeployment.deployment.revision).toBe(2);
    const { deployment, workflow } = await member.ask(
      `query ($slug: String!, $ref: String!) {
        deployment(slug: $slug) { variants { label flowId workflow { ref } version { id } } }
        workflow(ref: $ref) { variants { deployment { slug } } }
      }`,
      { slug: ours.deployment, ref: ours.workflow },
    );
    expect(deployment.variants).toEqual([
      { label: 'main', flowId: ours.workflow, workflow: { ref: ours.workflow }, version: { id: ours.ids.version } },
      { label: 'other', flowId: theirs.workflow, workflow: null, version: null },
    ]);
    expect(workflow.variants).toEqual([{ deployment: { slug: ours.deployment } }]);
  });

  it('is in no stream', async () => {
    const client = app.socket(member.token);
    const streams = {
      workers: subscribe(client, 'subscription { workerEvents { kind workers { name } } }'),
      deployments: subscribe(client, 'subscription { deploymentChanges { kind deployments { slug } } }'),
      executions: subscribe(client, 'subscription { executionChanges { kind executions { id workflowRef } } }'),
      decisions: subscribe(client, 'subscription { dispatchDecisions { execution { workflowRef } } }'),
    };
    expect((await streams.workers.next()).workerEvents.workers).toEqual([{ name: ours.worker }]);
    expect((await streams.deployments.next()).deploymentChanges.deployments).toEqual([{ slug: ours.deployment }]);
    const first = (await streams.executions.next()).executionChanges.executions as { workflowRef: string }[];
    expect(new Set(first.map(({ workflowRef }) => workflowRef))).toEqual(new Set([ours.workflow]));
    // What the others do is not told; what follows of ours is.
    const decided = streams.decisions.next();
    for (const team of [theirs, ours]) {
      await app.ask(
        'mutation ($workflow: String!) { runWorkflow(input: { workflow: $workflow }) { execution { id } } }',
        {
          workflow: team.workflow,
        },
      );
    }
    expect((await decided).dispatchDecisions).toEqual({ execution: { workflowRef: ours.workflow } });
    const { executionChanges } = await streams.executions.next();
    expect(executionChanges.executions.map(({ workflowRef }: { workflowRef: string }) => workflowRef)).toEqual([
      ours.workflow,
    ]);
    const closed = subscribe(client, 'subscription ($id: ID!) { executionEvents(id: $id) { type } }', {
      id: theirs.ids.failed,
    });
    await expect(closed.next()).rejects.toThrow('There is no such execution.');
    await client.dispose();
  });
});

describe('the token of an execution', () => {
  const OF = `query ($id: ID!) { execution(id: $id) {
    workflowRef requiredWorker preferredWorker parkedReason why decisions { totalCount nodes { id } } latestDecision { id } whyWaiting { reason }
    attempts { decision { id } }
  } }`;

  it('sees neither binding nor hint nor decisions', async () => {
    const { runWorkflow } = await app.ask(
      'mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }',
      { input: { workflow: ours.workflow, requiredWorker: theirs.worker } },
    );
    const { id } = runWorkflow.execution;
    await until(async () => {
      const { execution } = await app.ask('query ($id: ID!) { execution(id: $id) { parkedReason requiredWorker } }', {
        id,
      });
      return execution.parkedReason !== null && execution.requiredWorker === theirs.worker;
    }, 'it parks');
    const token = executionOf(app, ours);
    const { execution } = await token.ask(OF, { id });
    expect(execution).toEqual({
      workflowRef: ours.workflow,
      requiredWorker: null,
      preferredWorker: null,
      parkedReason: 'no worker can take it now',
      why: 'no worker can take it now',
      decisions: { totalCount: 0, nodes: [] },
      latestDecision: null,
      whyWaiting: null,
      attempts: [],
    });
    const rest = await token.fetch(`/executions/${id}`);
    expect(await rest.text()).not.toContain(theirs.worker);
    const { executions } = await token.ask(
      'query ($worker: String!) { executions(filter: { requiredWorker: $worker }) { totalCount nodes { id } } }',
      { worker: theirs.worker },
    );
    expect(executions).toEqual({ totalCount: 0, nodes: [] });
    const { decision, decisions, node } = await token.ask(
      'query ($id: ID!) { decision(id: $id) { id } decisions { totalCount } node(id: $id) { id } }',
      { id: ours.ids.decision },
    );
    expect({ decision, decisions, node }).toEqual({ decision: null, decisions: { totalCount: 0 }, node: null });
  });

  it('has nothing of its submitter but workflows and executions', async () => {
    const token = executionOf(app, ours);
    const seen = await token.ask(
      '{ workers { totalCount } deployments { totalCount } schedules { totalCount } viewer { permissions } }',
    );
    expect(seen).toMatchObject({
      workers: { totalCount: 0 },
      deployments: { totalCount: 0 },
      schedules: { totalCount: 0 },
    });
    const { errors } = await token.post('{ fleetMetrics { workers } }');
    expect(errors[0]?.extensions.code).toBe('FORBIDDEN');
  });
});
