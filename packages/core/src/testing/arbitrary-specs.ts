import fc from 'fast-check';
import { RESOURCE_FIELDS } from '../policy/rules.ts';
import type {
  AffinitySpec,
  Condition,
  DynamicSelector,
  MatchTerm,
  PlainScoreTerm,
  PolicySpec,
  RequestsSpec,
  RequireTerm,
  ScoreTerm,
} from '../policy/spec.ts';

// Generators of valid specs, for property tests.

const text = fc.string({ unit: 'binary', maxLength: 12 }).filter((value) => !/[\p{Cs}\0]/u.test(value));
const filled = text.filter((value) => value !== '');
const path = fc.oneof(fc.constantFrom('region', 'customer.tier', 'a..b'), filled);
const plainKey = fc.oneof(fc.constantFrom('region', 'flux.service.bert', 'odd key!', '__proto__'), filled);
const shapedKey = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,10}[A-Za-z0-9])?$/);
const prefix = fc.tuple(shapedKey, fc.constantFrom('', '.', '-', '_', '._-')).map((parts) => parts.join(''));
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
);
const constant = fc.oneof(text, number, fc.boolean(), fc.constantFrom('true', '1'));
const weight = fc.oneof(
  fc.constant(1),
  fc.double({ min: Number.MIN_VALUE, max: 1e12, noNaN: true }),
  fc.integer({ min: 1, max: 100 }),
);
const anyOperator = fc.constantFrom(
  '==' as const,
  '!=' as const,
  '<' as const,
  '<=' as const,
  '>' as const,
  '>=' as const,
);
const equality = fc.constantFrom('==' as const, '!=' as const);
const value = fc.oneof(
  constant,
  path.map((name) => ({ $input: name })),
  path.map((name) => ({ $routing_input: name })),
);

const labelSelector = plainKey.map((key) => `label:${key}`);
const metaSelector = shapedKey.map((key) => `meta:${key}`);
const metricSelector = plainKey.map((key) => `metric:${key}`);
const counted = fc.constantFrom('load', 'utilization');
const resourceSelector = fc.constantFrom(...RESOURCE_FIELDS).map((field) => `resource:${field}`);
const staticSelector = fc.oneof(labelSelector, metaSelector, metricSelector, resourceSelector, counted);

function dynamicSelector(kind: 'label' | 'meta'): fc.Arbitrary<DynamicSelector> {
  const start = kind === 'label' ? fc.oneof(prefix, fc.constant('flux.service.')) : prefix;
  return fc
    .tuple(start, path, fc.boolean())
    .map(([found, input, routed]) =>
      routed ? { kind, prefix: found, routing_input: input } : { kind, prefix: found, input },
    );
}

const inputCondition: fc.Arbitrary<Condition> = fc
  .tuple(path, equality, fc.oneof(constant, fc.constant(null)), fc.boolean())
  .map(([input, op, compared, routed]) =>
    routed ? { routing_input: input, op, value: compared } : { input, op, value: compared },
  );

function condition(selectors: fc.Arbitrary<string>): fc.Arbitrary<Condition> {
  return fc.oneof(inputCondition, fc.record({ selector: selectors, op: anyOperator, value: constant }));
}

const plainScoreTerm: fc.Arbitrary<PlainScoreTerm> = fc.oneof(
  fc.record({
    kind: fc.constant('prefer' as const),
    selector: fc.oneof(staticSelector, dynamicSelector('label'), dynamicSelector('meta')),
    op: anyOperator,
    value,
    weight,
  }),
  fc.record({ kind: fc.constantFrom('least' as const, 'most' as const), selector: staticSelector, weight }),
  fc.record({ kind: fc.constant('sticky' as const), weight }),
);
const scoreTerm: fc.Arbitrary<ScoreTerm> = fc.oneof(
  plainScoreTerm,
  fc.record({
    kind: fc.constant('when' as const),
    if: condition(fc.oneof(metaSelector, metricSelector, counted)),
    then: plainScoreTerm,
  }),
);

const matchTerm: fc.Arbitrary<MatchTerm> = fc.oneof(
  fc.record({
    kind: fc.constant('match' as const),
    selector: fc.oneof(labelSelector, dynamicSelector('label')),
    op: equality,
    value,
  }),
  fc.record({
    kind: fc.constant('match' as const),
    selector: fc.oneof(metaSelector, dynamicSelector('meta')),
    op: anyOperator,
    value,
  }),
);
const requireTerm: fc.Arbitrary<RequireTerm> = fc.oneof(
  matchTerm,
  matchTerm.map((term) => ({ ...term, optional: true as const })),
  fc.record({
    kind: fc.constant('when' as const),
    if: condition(fc.oneof(metaSelector, metricSelector)),
    then: matchTerm,
  }),
);

/** Valid `score(...)` specs. */
export const policySpecs: fc.Arbitrary<PolicySpec> = fc
  .array(scoreTerm, { minLength: 1, maxLength: 8 })
  .map((terms) => ({ terms }));

/** Valid `require(...)` specs and label maps. */
export const affinitySpecs: fc.Arbitrary<AffinitySpec> = fc.oneof(
  fc.array(requireTerm, { minLength: 1, maxLength: 8 }),
  fc.array(fc.tuple(text, text), { maxLength: 8 }).map((entries) => Object.fromEntries(entries)),
);

const amount = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((found) => (found === 0 ? 0 : found));

/** Valid resource requests. */
export const requestsSpecs: fc.Arbitrary<RequestsSpec> = fc.record(
  {
    cpu: amount,
    memory: fc.oneof(amount, fc.constantFrom('512', '512Mi', '2.5 Gi', '1P')),
    disk: amount,
    gpu: fc.nat(16),
    packages: fc.array(fc.constantFrom('numpy', 'torch==2.6', 'Zope.Interface >= 1.0'), { maxLength: 4 }),
  },
  { requiredKeys: [] },
);
