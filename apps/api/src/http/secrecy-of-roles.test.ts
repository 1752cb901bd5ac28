import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESSES, OPERATIONS } from '../testing/access-matrix/operations.ts';
import { makeVisitors, type Visitor } from '../testing/access-matrix/visitors.ts';
import { startTestApp, type TestApp, until } from '../testing/test-app.ts';
import { type Team, twoTeams } from '../testing/two-teams.ts';

const SECRET = 'canary-7f3a9c';
const EVERYTHING = `{
  executions(first: 50) { nodes {
    id state why parkedReason input output error { message } events(first: 20) { nodes { type data } }
    decisions(first: 5) { nodes { explanation reason terms { text note } candidates { worker rejectedBecause cells { value } } } }
  } }
  decisions(first: 50) { nodes { explanation reason } }
  workflows { nodes { latest { routingText affinityText } } }
}`;

let app: TestApp;
let ours: Team;
let visitors: Visitor[];

beforeAll(async () => {
  app = await startTestApp();
  ({ ours } = await twoTeams(app));
  visitors = await makeVisitors(app, ours);
  await app.ask('mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }', {
    input: {
      namespace: ours.namespace,
      name: 'job',
      routing: 'score(prefer(label("team") == routing_input("cohort"), weight=5), least(load()))',
      affinity: 'require(label("team") == routing_input("cohort"))',
    },
  });
  const run = 'mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }';
  const { runWorkflow } = await app.ask(run, {
    input: { workflow: ours.workflow, routingInput: { cohort: SECRET } },
  });
  const parked = 'query ($id: ID!) { execution(id: $id) { parkedReason } }';
  await until(
    async () => (await app.ask(parked, { id: runWorkflow.execution.id })).execution.parkedReason !== null,
    'what nobody has parks',
  );
});
afterAll(() => app.close());

describe('a routing value', () => {
  it('is told to nobody, whoever asks for whatever', async () => {
    const reads = Object.entries(OPERATIONS).filter(([name]) => name.startsWith('Query.'));
    for (const visitor of visitors) {
      const headers: Record<string, string> =
        visitor.token === null ? {} : { authorization: `Bearer ${visitor.token}` };
      const documents = [EVERYTHING, ...reads.map(([, operation]) => operation(ours, visitor))];
      const texts = documents.map(async (query) => {
        const answer = await fetch(`${app.url}/graphql`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        });
        return answer.text();
      });
      for (const name of ['getExecution', 'listWorkers', 'listRegistry', 'getWorker'])
        texts.push(fetch(`${app.url}${ADDRESSES[name]?.(ours)}`, { headers }).then((answer) => answer.text()));
      for (const text of await Promise.all(texts)) expect(text, visitor.column).not.toContain(SECRET);
    }
    expect(app.lines.join('\n')).not.toContain(SECRET);
    // It is there: the dispatcher keeps it.
    const { rows } = await app.plane.database.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM execution_routing WHERE value::text LIKE $1',
      [`%${SECRET}%`],
    );
    expect(rows[0]?.n).toBe(1);
  });
});
