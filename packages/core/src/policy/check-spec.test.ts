import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { affinitySpecs, policySpecs } from '../testing/arbitrary-specs.ts';
import { checkSpec } from './check-spec.ts';
import type { PolicyStage } from './spec.ts';

function issuesOf(value: unknown, stage: PolicyStage = 'ROUTING'): string[] {
  const result = checkSpec(value, stage);
  return result.ok ? [] : result.issues.map((issue) => `${issue.path} ${issue.code}`);
}

describe('checkSpec', () => {
  it('names all issues at once, each with its path', () => {
    const terms = [
      { kind: 'prefer', selector: 'meta:bad key', op: '~=', value: null, weight: 0 },
      { kind: 'least', selector: { kind: 'label', prefix: 'a.', input: 'x' }, weight: 1e13 },
      { kind: 'when', if: { input: 'a', op: '<', value: 1 }, then: { kind: 'when' } },
      { kind: 'sticky', weight: 1, heavy: true },
      { kind: 'avoid' },
    ];
    expect(issuesOf({ terms, name: 'x' })).toEqual([
      'name FIELD_UNKNOWN',
      'terms.0.selector KEY_INVALID',
      'terms.0.op OPERATOR_UNKNOWN',
      'terms.0.value VALUE_INVALID',
      'terms.0.weight WEIGHT_NOT_POSITIVE',
      'terms.1.weight WEIGHT_TOO_LARGE',
      'terms.2.if.op OPERATOR_NOT_ALLOWED',
      'terms.2.then UNKNOWN_TERM',
      'terms.3.heavy FIELD_UNKNOWN',
      'terms.4 UNKNOWN_TERM',
    ]);
  });

  it.each([
    [null],
    [[]],
    [{ terms: [] }],
    [{ terms: 'x' }],
    [{ terms: [{ kind: 'least', selector: { kind: 'label', prefix: 'a.', input: 'x' }, weight: 1 }] }],
    [{ terms: [{ kind: 'least', selector: 'load', weight: '3' }] }],
    [{ terms: [{ kind: 'least', selector: 'load' }] }],
    [{ terms: [{ kind: 'most', selector: 'gpu:x', weight: 1 }] }],
    [
      {
        terms: [
          { kind: 'prefer', selector: 'label:a', op: '==', value: { $input: 'x', $routing_input: 'y' }, weight: 1 },
        ],
      },
    ],
    [{ terms: [{ kind: 'prefer', selector: 'label:a', op: '==', value: { $input: '' }, weight: 1 }] }],
    [{ terms: [{ kind: 'prefer', selector: 'label:a', op: '==', value: '\ud800', weight: 1 }] }],
    [
      {
        terms: [{ kind: 'when', if: { selector: 'label:a', op: '==', value: 1 }, then: { kind: 'sticky', weight: 1 } }],
      },
    ],
    [{ terms: Array.from({ length: 65 }, () => ({ kind: 'sticky', weight: 1 })) }],
    [{ terms: [{ kind: 'prefer', selector: `label:${'x'.repeat(17_000)}`, op: '==', value: 1, weight: 1 }] }],
  ])('refuses a malformed policy (%#)', (value) => {
    expect(issuesOf(value)).not.toEqual([]);
  });

  it.each([
    ['x'],
    [[]],
    [['x']],
    [{ region: 1 }],
    [[{ kind: 'match', selector: 'label:a', op: '<', value: 1 }]],
    [[{ kind: 'match', selector: 'metric:a', op: '==', value: 1 }]],
    [[{ kind: 'match', selector: 'load', op: '==', value: 1 }]],
    [[{ kind: 'match', selector: 'label:a', op: '==', value: 1, optional: false }]],
    [
      [
        {
          kind: 'when',
          if: { selector: 'load', op: '<', value: 1 },
          then: { kind: 'match', selector: 'label:a', op: '==', value: 1 },
        },
      ],
    ],
    [
      [
        {
          kind: 'when',
          if: { input: 'a', op: '==', value: 1 },
          then: { kind: 'match', selector: 'label:a', op: '==', value: 1, optional: true },
        },
      ],
    ],
  ])('refuses a malformed affinity (%#)', (value) => {
    expect(issuesOf(value, 'AFFINITY')).not.toEqual([]);
  });

  it('takes null fields of requests as left out, and refuses the rest', () => {
    expect(checkSpec({ cpu: 2, memory: null, packages: null }, 'REQUESTS')).toEqual({ ok: true, spec: { cpu: 2 } });
    expect(
      issuesOf(
        { cpu: -1, memory: '4GB', disk: '1', gpu: true, packages: ['a', 'b<2'], cpus: 1 },
        'REQUESTS',
      ).toSorted(),
    ).toEqual([
      'cpu AMOUNT_INVALID',
      'cpus FIELD_UNKNOWN',
      'disk AMOUNT_INVALID',
      'gpu AMOUNT_INVALID',
      'memory MEMORY_INVALID',
      'packages.1 PACKAGE_INVALID',
    ]);
  });

  it('never throws, and accepts only what it can rebuild', () => {
    const damaged = fc
      .tuple(fc.oneof(policySpecs, affinitySpecs), fc.nat(), fc.anything())
      .map(([spec, index, junk]) => {
        const copy: unknown = JSON.parse(JSON.stringify(spec));
        damage(copy, index, junk);
        return copy;
      });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), damaged), (value) => {
        for (const stage of ['ROUTING', 'AFFINITY', 'REQUESTS'] as const) {
          const result = checkSpec(value, stage);
          expect(result.ok ? checkSpec(result.spec, stage) : result.issues.length > 0).toEqual(
            result.ok ? result : true,
          );
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** Puts junk into one place of a value. */
function damage(value: unknown, index: number, junk: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const keys = Object.keys(value);
  const key = keys[index % Math.max(1, keys.length)];
  if (key === undefined) return;
  const inner: unknown = Reflect.get(value, key);
  if (typeof inner === 'object' && inner !== null && index % 3 !== 0) damage(inner, Math.floor(index / 3), junk);
  else Reflect.set(value, key, junk);
}
