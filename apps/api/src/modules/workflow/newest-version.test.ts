import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/test-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

it('the newest version is the one with the highest number, also where the clock says otherwise', async () => {
  for (const zone of ['a', 'b', 'c', 'd']) {
    await app.ask('mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }', {
      input: { name: 'chat', affinity: JSON.stringify({ zone }) },
    });
  }
  await app.ask(
    'mutation { createDeployment(input: { slug: "chat", variants: [{ label: "a", flowId: "default/chat", weight: 1 }] }) { warnings } }',
  );
  const newest = async () => {
    app.plane.workflowStore.forgetLatest();
    const { workflow, resolveDeployment } = await app.ask(
      '{ workflow(ref: "default/chat") { latest { number } versions(first: 10) { nodes { number } } } resolveDeployment(slug: "chat") { version { number } } }',
    );
    expect(workflow.versions.nodes.map(({ number }: { number: number }) => number)).toEqual([4, 3, 2, 1]);
    const { runWorkflow } = await app.ask(
      'mutation { runWorkflow(input: { workflow: "chat" }) { execution { version { number } } } }',
    );
    return [workflow.latest.number, resolveDeployment.version.number, runWorkflow.execution.version.number];
  };
  // All in one instant; then in the wrong order, as where the clock was set back meanwhile.
  for (const instant of [`'2026-01-01'`, `timestamp '2026-01-01' - number * interval '1 h'`]) {
    await app.plane.database.query(`UPDATE workflow_version SET created_at = ${instant}`);
    expect(await newest()).toEqual([4, 4, 4]);
  }
});
