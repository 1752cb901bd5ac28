import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePolicyText } from './parse/parse.ts';
import {
  affinityNamesRoutingInput,
  listReferences,
  namesRoutingInput,
  policyNamesRoutingInput,
  termNamesRoutingInput,
} from './references.ts';

function policy(text: string): unknown {
  const result = parsePolicyText(text, 'ROUTING');
  return result.ok ? result.spec : null;
}

function affinity(text: string): unknown {
  const result = parsePolicyText(text, 'AFFINITY');
  return result.ok ? result.spec : null;
}

describe('namesRoutingInput', () => {
  it.each([
    'score(prefer(label("a") == routing_input("x")))',
    'score(sticky(), prefer(label_for("a.", routing_input("x")) == 1))',
    'score(prefer(service(routing_input("x"))))',
    'score(when(routing_input("x") == 1, sticky()))',
    'score(when(load() < 3, prefer(meta("a") == routing_input("x"))))',
  ])('sees it in %s', (text) => {
    expect(policyNamesRoutingInput(policy(text))).toBe(true);
    expect(namesRoutingInput(policy(text), null)).toBe(true);
  });

  it('sees it in an affinity, and not in a label map', () => {
    expect(affinityNamesRoutingInput(affinity('require(optional(label("a") == routing_input("x")))'))).toBe(true);
    expect(affinityNamesRoutingInput(affinity('require(label("routing_input") == input("routing_input"))'))).toBe(
      false,
    );
    expect(affinityNamesRoutingInput({ routing_input: 'x' })).toBe(false);
    expect(namesRoutingInput(policy('score(prefer(label("a") == "routing_input"))'), null)).toBe(false);
  });

  it('tells terms apart', () => {
    const { terms } = policy('score(sticky(), prefer(label("a") == routing_input("x")))') as { terms: unknown[] };
    expect(terms.map((term) => termNamesRoutingInput(term))).toEqual([false, true]);
  });

  it('never throws, and takes a malformed reference as one', () => {
    expect(policyNamesRoutingInput({ terms: [{ oops: [{ $routing_input: 3 }] }] })).toBe(true);
    fc.assert(
      fc.property(fc.anything({ withMap: true, withNullPrototype: true }), fc.anything(), (left, right) => {
        expect(typeof namesRoutingInput(left, right)).toBe('boolean');
        expect(listReferences(left, right).selectors.every((selector) => typeof selector === 'string')).toBe(true);
      }),
    );
  });
});

describe('listReferences', () => {
  it('lists what is read, once each, in order', () => {
    const found = listReferences(
      policy(`score(when(metric("a") < 1, prefer(label("b") == input("x"))), least(load()), least(load()),
        prefer(meta_for("m.", routing_input("y")) == 1))`),
      affinity('require(label("b") == input("z"), service("s"))'),
    );
    expect(found).toEqual({
      selectors: ['metric:a', 'label:b', 'load', 'label:flux.service.s'],
      dynamicSelectors: [{ kind: 'meta', prefix: 'm.', routing_input: 'y' }],
      inputs: ['x', 'z'],
      routingInputs: ['y'],
    });
    expect(listReferences(null, { region: 'eu' }).selectors).toEqual(['label:region']);
  });
});
