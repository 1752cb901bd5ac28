import { permits } from '@muster/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayReadNamed, mayReadWorkflow, readableNames, readableWorkflows } from './readable.ts';
import { administrator, type Viewer } from './viewer.ts';

const holding = (...permissions: string[]): Viewer => ({ ...administrator, kind: 'person', permissions });

describe('readableNames', () => {
  it.each([
    [['*'], 'all'],
    [['worker:*'], 'all'],
    [['worker:*:read'], 'all'],
    [['worker:*:*'], 'all'],
    [['*:*:read'], 'all'],
    [
      ['worker:w.1:read', 'worker:w-2:*', 'deployment:d:read'],
      ['w.1', 'w-2'],
    ],
    [['worker:w.1:manage', 'worker:w.1', 'worker:w.1:read:more'], []],
    [[], []],
  ] as const)('of %j are %j', (permissions, expected) => {
    const names = readableNames(holding(...permissions), 'worker');
    expect(names === 'all' ? names : [...names]).toEqual(expected);
  });
});

describe('readableWorkflows', () => {
  it.each([
    [['*'], 'all'],
    [['workflow:*:*:read'], 'all'],
    [['workflow:ml:*:read'], [{ namespace: 'ml', name: null }]],
    [['workflow:ml:*'], [{ namespace: 'ml', name: null }]],
    [['workflow:*:train:read'], [{ namespace: null, name: 'train' }]],
    [['workflow:ml:train:*'], [{ namespace: 'ml', name: 'train' }]],
    [['workflow:ml:train:run', 'workflow:ml', 'workflow:ml:train'], []],
  ] as const)('of %j are %j', (permissions, expected) => {
    expect(readableWorkflows(holding(...permissions))).toEqual(expected);
  });
});

describe('what a list is narrowed to', () => {
  const segment = fc.constantFrom('*', 'a', 'b', 'read', 'run');
  const grants = fc.array(
    fc
      .tuple(fc.constantFrom('workflow', 'worker', '*'), fc.array(segment, { maxLength: 4 }))
      .map((parts) => parts.flat().join(':')),
    { maxLength: 4 },
  );

  it('is what may be read one by one', () => {
    fc.assert(
      fc.property(grants, (permissions) => {
        const viewer = holding(...permissions);
        const names = readableNames(viewer, 'worker');
        const workflows = readableWorkflows(viewer);
        for (const a of ['a', 'b']) {
          expect(names === 'all' || names.has(a)).toBe(permits(permissions, `worker:${a}:read`));
          expect(mayReadNamed(viewer, 'worker', a)).toBe(permits(permissions, `worker:${a}:read`));
          for (const b of ['a', 'b']) {
            const listed =
              workflows === 'all' ||
              workflows.some(({ namespace, name }) => (namespace ?? a) === a && (name ?? b) === b);
            expect(listed).toBe(permits(permissions, `workflow:${a}:${b}:read`));
            expect(mayReadWorkflow(viewer, `${a}/${b}`)).toBe(listed);
          }
        }
      }),
    );
  });
});

describe('a name that is no segment', () => {
  it('is covered by a * alone', () => {
    expect(mayReadNamed(holding('worker:a:read'), 'worker', 'a:read')).toBe(false);
    expect(mayReadNamed(holding('worker:a:*'), 'worker', 'a:b')).toBe(false);
    expect(mayReadNamed(holding('worker:*:read'), 'worker', 'a:b')).toBe(true);
  });
});
