import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { intersectPermissions } from './intersect-permissions.ts';
import { permits } from './permissions.ts';

const pattern = fc
  .array(fc.constantFrom('*', 'a', 'b'), { minLength: 1, maxLength: 4 })
  .map((segments) => segments.join(':'));
const wanted = fc
  .array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 5 })
  .map((segments) => segments.join(':'));

describe('intersectPermissions', () => {
  it('covers exactly what both cover', () => {
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 4 }), fc.array(pattern, { maxLength: 4 }), wanted, (a, b, asked) => {
        expect(permits(intersectPermissions(a, b), asked)).toBe(permits(a, asked) && permits(b, asked));
      }),
      { numRuns: 2_000 },
    );
  });

  it('says each thing once', () => {
    expect(intersectPermissions(['*'], ['worker:*:read', 'execution:*:read'])).toEqual([
      'worker:*:read',
      'execution:*:read',
    ]);
    expect(intersectPermissions(['worker:*', 'worker:*:read'], ['worker:*'])).toEqual(['worker:*']);
    expect(intersectPermissions(['worker:*:read'], ['deployment:*:read'])).toEqual([]);
  });
});
