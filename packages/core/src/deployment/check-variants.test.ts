import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkVariants, type VariantInput } from './check-variants.ts';

const input = (over: Partial<VariantInput> = {}): VariantInput => ({
  label: 'stable',
  flowId: 'default/chat',
  weight: 1,
  ...over,
});
const codes = (...inputs: VariantInput[]): string[] =>
  checkVariants(inputs, 'variants').issues.map((issue) => `${issue.path} ${issue.code}`);

describe('checkVariants', () => {
  it('fills in what may be left out', () => {
    const { value, issues } = checkVariants(
      [input({ weight: -0, label: 'off' }), input({ labels: [{ key: 'tier', value: 'a' }] })],
      'variants',
    );
    expect(issues).toEqual([]);
    expect(value[0]).toStrictEqual({
      label: 'off',
      flowId: 'default/chat',
      versionId: null,
      weight: 0,
      targetRoles: [],
      labels: {},
    });
    expect(value[1]?.labels).toEqual({ tier: 'a' });
  });

  it('reports every problem at once, each with its path', () => {
    expect(
      codes(
        input({ weight: -1, flowId: 'no slash' }),
        input({ weight: 1.5, targetRoles: ['ok', 'bad role', 'ok'] }),
        input({
          label: ' x',
          labels: [
            { key: 'a', value: '1' },
            { key: 'a', value: '2' },
          ],
        }),
      ),
    ).toEqual([
      'variants.0.flowId FLOW_ID_SHAPE',
      'variants.0.weight NUMBER_RANGE',
      'variants.1.weight NUMBER_RANGE',
      'variants.1.targetRoles.1 NAME_SHAPE',
      'variants.1.targetRoles.2 TARGET_ROLE_DUPLICATE',
      'variants.1.label VARIANT_LABEL_DUPLICATE',
      'variants.2.label VARIANT_LABEL_SHAPE',
      'variants.2.labels.1.key LABEL_DUPLICATE',
    ]);
  });

  it('wants a weight above 0 somewhere', () => {
    expect(codes(input({ weight: 0 }), input({ label: 'b', weight: 0 }))).toEqual(['variants NO_WEIGHT']);
  });

  it('takes 0 and 1,000,000 and refuses everything beyond, naming the limit', () => {
    expect(codes(input({ weight: 1_000_000 }), input({ label: 'b', weight: 0 }))).toEqual([]);
    for (const weight of [1_000_001, 2 ** 31 - 1, 1e300, Number.NaN, Number.POSITIVE_INFINITY, -5]) {
      const { issues } = checkVariants([input({ weight }), input({ label: 'b' })], 'variants');
      expect(issues[0]?.message).toContain('from 0 to 1000000');
    }
  });

  it('counts variants and roles', () => {
    expect(codes()).toEqual(['variants VARIANT_COUNT']);
    const many = Array.from({ length: 101 }, (_, i) => input({ label: `v${i}` }));
    expect(codes(...many)).toEqual(['variants VARIANT_COUNT']);
    expect(codes(...many.slice(1))).toEqual([]);
    const targetRoles = Array.from({ length: 33 }, (_, i) => `r${i}`);
    expect(codes(input({ targetRoles }))).toEqual(['variants.0.targetRoles TOO_MANY_TARGET_ROLES']);
    expect(codes(input({ targetRoles: targetRoles.slice(1) }))).toEqual([]);
  });

  it('refuses labels that the session hash could not tell apart', () => {
    expect(codes(input({ label: 'a\u0000b' }))).toEqual(['variants.0.label TEXT_ILLEGAL']);
    expect(codes(input({ label: 'a\udc00' }))).toEqual(['variants.0.label TEXT_ILLEGAL']);
  });

  it('never throws', () => {
    const anything = fc.record({
      label: fc.string({ unit: 'binary' }),
      flowId: fc.string({ unit: 'binary' }),
      weight: fc.double(),
      targetRoles: fc.array(fc.string({ unit: 'binary' })),
      labels: fc.array(fc.record({ key: fc.string({ unit: 'binary' }), value: fc.string({ unit: 'binary' }) })),
    });
    fc.assert(fc.property(fc.array(anything), (inputs) => Array.isArray(checkVariants(inputs, 'variants').issues)));
  });
});
