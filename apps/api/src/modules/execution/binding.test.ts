import { MusterError } from '@muster/core';
import { describe, expect, it } from 'vitest';
import { administrator, type Viewer } from '../viewer/viewer.ts';
import { checkBinding, trimHint } from './binding.ts';

const viewer = (...permissions: string[]): Viewer => ({ ...administrator, name: 'anna', roles: [], permissions });
const checks = { exists: (name: string) => name === 'w-1' };

function code(raw: string, who: Viewer): string {
  try {
    return checkBinding(raw, who, checks) ?? 'none';
  } catch (error) {
    return error instanceof MusterError ? error.code : 'thrown';
  }
}

describe('checkBinding', () => {
  it('trims, and takes a registered worker', () => {
    expect(code('  w-1 ', viewer('worker:*:target'))).toBe('w-1');
    expect(checkBinding(undefined, viewer(), checks)).toBeNull();
  });

  it('checks shape, then permission, then existence, so that names cannot be probed', () => {
    expect(code('no such name!', viewer())).toBe('BAD_INPUT');
    expect(code('', viewer('*'))).toBe('BAD_INPUT');
    expect(code('w-1', viewer())).toBe('FORBIDDEN');
    expect(code('w-9', viewer('worker:w-1:target'))).toBe('FORBIDDEN');
    expect(code('w-9', viewer('worker:*:target'))).toBe('UNKNOWN_WORKER');
  });
});

describe('trimHint', () => {
  it('drops whatever is wrong', () => {
    expect(trimHint(' w-1 ')).toBe('w-1');
    for (const bad of [undefined, null, '', '  ', 'a b', 'x'.repeat(257), 'x'.repeat(129), '-w'])
      expect(trimHint(bad)).toBeNull();
  });
});
