import { expect, test } from 'vitest';
import { hostnameAsName } from './metrics/machine.ts';
import { resolveOptions } from './worker-options.ts';
import { isWorkflow, workflow } from './workflow.ts';

test('role and name come from the environment, the name from role and host where it is not given', () => {
  expect(resolveOptions({ workflows: [] }, {})).toMatchObject({
    role: 'api',
    name: `api-${hostnameAsName()}`,
    server: 'http://127.0.0.1:4000',
    token: undefined,
    capacity: null,
  });
  const env = { SERVICE_ROLE: 'gpu-worker', MUSTER_TOKEN: 't', MUSTER_SERVER: 'http://h:1' };
  expect(resolveOptions({ workflows: [] }, env)).toMatchObject({
    role: 'gpu-worker',
    name: `gpu-worker-${hostnameAsName()}`,
    server: 'http://h:1',
    token: 't',
  });
  expect(resolveOptions({ workflows: [] }, { ...env, MUSTER_WORKER_NAME: ' w-1 ' }).name).toBe('w-1');
  expect(resolveOptions({ workflows: [], name: 'mine', role: 'worker' }, env)).toMatchObject({
    name: 'mine',
    role: 'worker',
  });
});

test('every start has its own instance id', () => {
  expect(resolveOptions({ workflows: [] }, {}).instanceId).not.toBe(resolveOptions({ workflows: [] }, {}).instanceId);
});

test('a capacity of 0 reads as none', () => {
  expect(resolveOptions({ workflows: [], capacity: 0 }, {}).capacity).toBeNull();
});

test('everything wrong is said at once', () => {
  const run = workflow({ name: 'run' }, () => 1);
  const broken = { name: 'a b', role: '-', capacity: -1, labels: { 'flux.x': '1' }, workflows: [run, run] };
  expect(() => resolveOptions(broken, {})).toThrow(
    expect.objectContaining({
      code: 'BAD_INPUT',
      issues: ['name', 'role', 'labels.0.key', 'capacity', 'workflows.1'].map((path) =>
        expect.objectContaining({ path }),
      ),
    }),
  );
});

test('a workflow knows its ref, and a name that cannot be one is refused', () => {
  expect(workflow({ name: 'run' }, () => 1).ref).toBe('default/run');
  expect(workflow({ namespace: 'demo', name: 'run' }, () => 1).ref).toBe('demo/run');
  expect(() => workflow({ namespace: 'a/b', name: '' }, () => 1)).toThrow(/namespace: .*; name: /);
});

test('workflows are told from other values', () => {
  expect(isWorkflow(workflow({ name: 'run' }, () => 1))).toBe(true);
  for (const other of [undefined, null, 1, {}, { kind: 'workflow' }, () => 1]) expect(isWorkflow(other)).toBe(false);
});
