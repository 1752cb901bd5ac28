import { describe, expect, it } from 'vitest';
import { needOf, workflowPermission } from './viewer.ts';

describe('needOf', () => {
  it('follows the rule of the server', () => {
    expect(needOf(['worker:*:manage'], ['worker:w-7:manage'])).toEqual({
      permission: 'worker:w-7:manage',
      allowed: true,
    });
    expect(needOf(['worker:w-8:manage'], ['worker:w-7:manage']).allowed).toBe(false);
    expect(needOf(['worker:w-7:read'], ['worker:w-7:manage']).allowed).toBe(false);
    expect(needOf(['worker:w-7:manage'], ['worker:*:manage']).allowed).toBe(false);
    expect(needOf(['*'], ['admin:audit:read']).allowed).toBe(true);
  });

  it('takes any name where none is known yet', () => {
    expect(needOf(['deployment:chat:write'], ['deployment:{slug}:write']).allowed).toBe(true);
    expect(needOf(['deployment:*:read'], ['deployment:{slug}:write']).allowed).toBe(false);
  });

  it('takes one of several, and names them all', () => {
    const need = needOf(['workflow:ml:*:run'], ['deployment:{slug}:run', workflowPermission('ml/train', 'run')]);
    expect(need).toEqual({ permission: 'deployment:{slug}:run or workflow:ml:train:run', allowed: true });
  });
});
