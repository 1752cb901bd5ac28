import { expect, test } from 'vitest';
import { hashOf } from './lib/stamps.mjs';
import { root, workspaceMembers } from './lib/workspace.mjs';

test('the members are those of pnpm-workspace.yaml', () => {
  expect(workspaceMembers()).toEqual(
    expect.arrayContaining(['apps/api', 'packages/core', 'prisma', 'e2e', 'examples', 'bench']),
  );
  expect(root).not.toMatch(/\/$/);
});

test('a hash depends on names and contents, not on tests', () => {
  expect(hashOf(['scripts/lib'])).toBe(hashOf(['scripts/lib']));
  expect(hashOf(['scripts/lib'])).not.toBe(hashOf(['scripts/lib', 'package.json']));
  expect(hashOf(['scripts/lib/stamps.mjs'])).not.toBe(hashOf(['scripts/lib/counts.mjs']));
  expect(hashOf(['scripts/lib', 'scripts/stamps.test.mjs'])).not.toBe('');
});
