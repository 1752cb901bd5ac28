import { describe, expect, it } from 'vitest';
import { checkPermission, permits, permitsSome } from './permissions.ts';

describe('permits', () => {
  it.each([
    ['*', true],
    ['worker:*', true],
    ['worker:*:target', true],
    ['worker:w.1:target', true],
    ['worker:w.1:*', true],
    ['worker:w.1', false],
    ['worker:w.1:manage', false],
    ['worker:*:*:target', false],
    ['worker:w.1:target:*', false],
    ['workflow:*', false],
    ['', false],
  ])('%s', (granted, expected) => {
    expect(permits([granted], 'worker:w.1:target')).toBe(expected);
  });

  it('covers every name by a * alone', () => {
    expect(permits(['worker:w.1:read'], 'worker:*:read')).toBe(false);
    expect(permits(['worker:*:read'], 'worker:*:read')).toBe(true);
    expect(permits(['worker:*'], 'worker:*:read')).toBe(true);
  });

  it('needs one grant that covers all of it', () => {
    expect(permits([], 'worker:a:read')).toBe(false);
    expect(permits(['workflow:ml:*:read', 'workflow:*:train:run'], 'workflow:ml:train:run')).toBe(true);
    expect(permits(['workflow:ml:*:read', 'workflow:*:train:run'], 'workflow:ml:train:register')).toBe(false);
  });
});

describe('permitsSome', () => {
  it.each([
    ['*', true],
    ['worker:*', true],
    ['worker:w.1:target', true],
    ['worker:w.1:*', true],
    ['worker:w.1', false],
    ['worker:w.1:manage', false],
    ['worker:w.1:target:*', false],
    ['schedule:w.1:target', false],
  ])('%s', (granted, expected) => {
    expect(permitsSome([granted], 'worker:{name}:target')).toBe(expected);
  });

  it('holds a * to be every name, where the form has one', () => {
    expect(permitsSome(['execution:x:read'], 'execution:*:read')).toBe(false);
    expect(permitsSome(['execution:*:read'], 'execution:*:read')).toBe(true);
  });
});

describe('checkPermission', () => {
  it.each([
    '*',
    'workflow:*',
    'workflow:ml:*',
    'workflow:ml:*:read',
    'workflow:ml:train.v2:register',
    'deployment:chat:write',
    'execution:*:cancel',
    'worker:w-7:serve',
    'schedule:*:read',
    'admin:audit:read',
    'admin:*:read',
    'admin:*',
  ])('takes %s', (text) => {
    expect(checkPermission(text, 'permissions.0')).toEqual([]);
  });

  it.each([
    '',
    'fleet:*',
    '__proto__:*',
    'workflow',
    'workflow:ml:train',
    'workflow:ml:train:write',
    'workflow:ml:train:read:more',
    'workflow:ml:tr*:read',
    'workflow::train:read',
    'worker:w 7:read',
    'admin:secrets:read',
    `worker:${'w'.repeat(600)}:read`,
  ])('refuses %s', (text) => {
    expect(checkPermission(text, 'permissions.0')).toEqual([
      { path: 'permissions.0', code: 'PERMISSION_SHAPE', message: expect.any(String) },
    ]);
  });
});
