import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { affinitySpecs, policySpecs, requestsSpecs } from '../testing/arbitrary-specs.ts';
import { checkSpec } from './check-spec.ts';
import { formatPolicy, formatTerm } from './format.ts';
import { parsePolicyText } from './parse/parse.ts';
import type { PolicyStage } from './spec.ts';

const STAGES = ['ROUTING', 'AFFINITY', 'REQUESTS'] as const;

function readBack(spec: unknown, stage: PolicyStage): unknown {
  const text = formatPolicy(spec, stage);
  const result = parsePolicyText(text, stage);
  return result.ok ? result.spec : { text, problems: result.problems };
}

describe('formatPolicy', () => {
  it.each([
    ['ROUTING', policySpecs],
    ['AFFINITY', affinitySpecs],
    ['REQUESTS', requestsSpecs],
  ] as const)('gives text that compiles to the same spec (%s)', (stage, specs) => {
    fc.assert(
      fc.property(specs, (spec) => {
        expect(readBack(spec, stage)).toEqual(spec);
        expect(checkSpec(spec, stage)).toEqual({ ok: true, spec });
      }),
      { numRuns: 400 },
    );
  });

  it('escapes what does not show or turns the writing direction', () => {
    const spec = {
      terms: [{ kind: 'prefer', selector: 'label:a"\\\n\u202e\u2028\u0085', op: '==', value: 'ż🚀', weight: 1 }],
    };
    expect(formatPolicy(spec, 'ROUTING')).toBe('score(prefer(label("a\\"\\\\\\n\\u202e\\u2028\\x85") == "ż🚀"))');
    expect(readBack(spec, 'ROUTING')).toEqual(spec);
  });

  it('writes a granted service as service(), and only where it is one', () => {
    const match = { kind: 'match', op: '==', value: 'true' };
    expect(formatTerm({ ...match, selector: 'label:flux.service.bert-base' })).toBe('service("bert-base")');
    expect(formatTerm({ ...match, selector: 'label:flux.service.Not_One' })).toBe(
      'label("flux.service.Not_One") == "true"',
    );
    expect(formatTerm({ ...match, value: 'false', selector: 'label:flux.service.bert' })).toBe(
      'label("flux.service.bert") == "false"',
    );
  });

  it('never throws, whatever is stored', () => {
    const cyclic: { terms: unknown[] } = { terms: [] };
    cyclic.terms.push(cyclic);
    const values = fc.oneof(
      fc.anything({ withBigInt: true, withNullPrototype: true, withMap: true }),
      fc.constant(cyclic),
      fc.anything().map((term) => ({ terms: [term] })),
      fc.anything().map((value) => [{ kind: 'match', selector: value, op: value, value }]),
    );
    fc.assert(
      fc.property(values, (value) => {
        for (const stage of STAGES) expect(typeof formatPolicy(value, stage)).toBe('string');
        expect(typeof formatTerm(value)).toBe('string');
      }),
    );
  });
});

describe('formatTerm', () => {
  it('leaves the weight out', () => {
    expect(formatTerm({ kind: 'sticky', weight: 3 })).toBe('sticky()');
    const inner = { kind: 'least', selector: 'metric:t', weight: 2 };
    expect(formatTerm({ kind: 'when', if: { input: 'a', op: '!=', value: null }, then: inner })).toBe(
      'when(input("a") != None, least(metric("t")))',
    );
  });

  it('shows a malformed term as its JSON, shortened', () => {
    expect(formatTerm({ kind: 'least' })).toBe('malformed {"kind":"least"}');
    expect(formatTerm('x'.repeat(1000)).length).toBeLessThan(220);
  });
});

describe('parsePolicyText', () => {
  it('answers any text with a spec or with problems inside the text', () => {
    const token = fc.constantFrom(
      'score',
      'require',
      'prefer',
      'label',
      'input',
      'load',
      'when',
      'ResourceRequest',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '=',
      '==',
      '<',
      '-',
      '**',
      '"a"',
      "'",
      '"""',
      '\\',
      '1',
      '1e999',
      '0x',
      'None',
      'if',
      'lambda',
      'for',
      '\n',
      '#',
      'ż',
      '🚀',
      '\ud800',
      '\0',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(token, { maxLength: 60 }).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(texts, fc.constantFrom(...STAGES), (text, stage) => {
        const result = parsePolicyText(text, stage);
        if (result.ok) return;
        expect(result.problems.some((problem) => problem.severity === 'ERROR')).toBe(true);
        for (const { from, to, line, column } of result.problems) {
          expect(0 <= from && from <= to && to <= text.length && line >= 1 && column >= 1).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
