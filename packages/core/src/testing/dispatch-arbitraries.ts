import fc from 'fast-check';
import type { DispatchRequest, DispatchRules } from '../decision/request.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';
import { workerFacts } from './worker-facts.ts';

/** Few values, so that terms really discriminate, and some of them look like numbers. */
const text = fc.constantFrom('eu', 'us', 'true', 'false', '3', '3.0', '10', '9', '1e3', '', 'a/b', '-lead', 'x');
const scalar = fc.oneof(text, fc.constantFrom(0, 1, 3, 9.5, -2, 1e15), fc.boolean());
const key = fc.constantFrom('region', 'gpu', 'tier', 'cache.eu', 'cache.3', 'temp');
const path = fc.constantFrom('a', 'b', 'c.d', 'missing');
const op = fc.constantFrom('==', '!=', '<', '<=', '>', '>=');
const weight = fc.constantFrom(0.5, 1, 2, 3, 10);

const number = fc.constantFrom(0, 1, 2.5, -3, 40, 1e300, -1.7e308, 1.7e308);
const amount = fc.option(fc.constantFrom(0, 1, 4, 8e9), { nil: undefined });

/** A fleet of up to `max` workers with different names, mostly eligible. */
export function fleetArbitrary(max: number): fc.Arbitrary<WorkerFacts[]> {
  const names = fc.uniqueArray(
    fc.oneof(
      fc.constantFrom('Z', 'a', 'é', '𝒳', 'ﬀ'),
      fc.nat(400).map((n) => `w-${n}`),
    ),
    {
      minLength: 0,
      maxLength: max,
      size: 'max',
    },
  );
  const mostly = <T>(usual: T, ...others: T[]) =>
    fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));
  const facts = fc.record({
    role: fc.constantFrom('worker', 'gpu-worker'),
    status: mostly<WorkerFacts['status']>('HEALTHY', 'OFFLINE', 'STALE', 'UNHEALTHY'),
    connected: mostly(true, false),
    availability: mostly<WorkerFacts['availability']>('ACTIVE', 'CORDONED', 'DRAINING'),
    labels: fc.dictionary(key, text, { maxKeys: 4, noNullPrototype: true }),
    metadata: fc.dictionary(key, fc.oneof(text, number), { maxKeys: 3, noNullPrototype: true }),
    metrics: fc.dictionary(fc.constantFrom('temp', 'queue'), number, { noNullPrototype: true }),
    metricsAgeMs: fc.option(fc.nat(90_000)),
    resources: fc.option(fc.record({ cpu_available: amount, memory_available: amount, disk_free: amount })),
    runners: fc.constantFrom(['inprocess'], ['inprocess', 'docker'], []),
    workflows: fc.constantFrom([], ['default/chat'], ['default/other']),
    capacity: fc.constantFrom(null, 0, 1, 4, 32),
    load: fc.nat(5),
  });
  return names.chain((all) =>
    fc.tuple(...all.map(() => facts)).map((list) => list.map((one, index) => workerFacts(all[index] ?? '', one))),
  );
}

const inputReference = path.map((p) => ({ $input: p }));
const routingReference = path.map((p) => ({ $routing_input: p }));

/** Terms whose references are drawn from `references` ('$input' / 'input' spelled accordingly). */
function expressions(routing: boolean) {
  const value = routing ? fc.oneof(scalar, inputReference, routingReference) : fc.oneof(scalar, inputReference);
  const source = routing ? fc.constantFrom('input', 'routing_input') : fc.constant('input');
  const dynamic = fc
    .tuple(fc.constantFrom('label', 'meta'), fc.constantFrom('cache.', 'sku'), source, path)
    .map(([kind, prefix, from, p]) => ({ kind, prefix, [from]: p }));
  const labelOrMeta = fc.oneof(
    key.map((k) => `label:${k}`),
    key.map((k) => `meta:${k}`),
    dynamic,
  );
  const readable = fc.oneof(
    labelOrMeta,
    fc.constantFrom('metric:temp', 'metric:queue', 'resource:cpu_available', 'load', 'utilization', 'quantum:x'),
  );
  const numeric = fc.oneof(
    key.map((k) => `label:${k}`),
    fc.constantFrom('meta:tier', 'metric:temp', 'metric:queue', 'resource:memory_available', 'load', 'utilization'),
  );
  const inputCondition = fc
    .tuple(source, path, fc.constantFrom('==', '!='), fc.oneof(scalar, fc.constant(null)))
    .map(([from, p, operator, constant]) => ({ [from]: p, op: operator, value: constant }));
  const workerCondition = (kinds: string[]) => fc.record({ selector: fc.constantFrom(...kinds), op, value: scalar });
  const plain = fc.oneof(
    fc.record({ kind: fc.constant('prefer'), selector: readable, op, value, weight }),
    fc.record({ kind: fc.constantFrom('least', 'most'), selector: numeric, weight }),
    fc.record({ kind: fc.constant('sticky'), weight }),
  );
  const condition = fc.oneof(inputCondition, workerCondition(['meta:tier', 'metric:temp', 'load', 'utilization']));
  const scoreTerm = fc.oneof(plain, fc.record({ kind: fc.constant('when'), if: condition, then: plain }));
  const match = labelOrMeta.chain((selector) => {
    const isLabel = typeof selector === 'string' ? selector.startsWith('label:') : selector.kind === 'label';
    return fc.record(
      {
        kind: fc.constant('match'),
        selector: fc.constant(selector),
        op: isLabel ? fc.constantFrom('==', '!=') : op,
        value,
        optional: fc.constant(true),
      },
      { requiredKeys: ['kind', 'selector', 'op', 'value'] },
    );
  });
  const requireCondition = fc.oneof(inputCondition, workerCondition(['meta:tier', 'metric:temp']));
  const requireTerm = fc.oneof(match, fc.record({ kind: fc.constant('when'), if: requireCondition, then: match }));
  return { scoreTerm, requireTerm, plain };
}

const scoreTerms = { open: expressions(false).scoreTerm, routing: expressions(true).scoreTerm };

/** A broken term now and then. */
const brokenTerm = fc.constantFrom<unknown>(
  null,
  5,
  {},
  { kind: 'prefer', selector: 'label:gpu', op: 'in', value: 1, weight: 1 },
  { kind: 'least', selector: 'load', weight: 0 },
  { kind: 'when', if: { routing_input: 'a', op: '==', value: 'eu' }, then: { kind: 'most', weight: 1 } },
  { kind: 'when', if: { selector: 'load', op: '<', value: 2 }, then: { kind: 'most', weight: 1 } },
);

export function policyArbitrary(options: { routing: boolean; broken?: boolean }): fc.Arbitrary<{ terms: unknown[] }> {
  const term: fc.Arbitrary<unknown> = options.routing ? scoreTerms.routing : scoreTerms.open;
  const any = options.broken === true ? fc.oneof({ weight: 12, arbitrary: term }, brokenTerm) : term;
  return fc.record({ terms: fc.array(any, { minLength: 1, maxLength: 5 }) });
}

export function affinityArbitrary(options: { routing: boolean }): fc.Arbitrary<unknown> {
  return fc.array(expressions(options.routing).requireTerm, { minLength: 1, maxLength: 2 });
}

export function rulesArbitrary(options: { routing: boolean; broken?: boolean }): fc.Arbitrary<DispatchRules> {
  return fc.record({
    workflowRef: fc.constantFrom(null, 'default/chat'),
    policy: fc.option(policyArbitrary(options), { freq: 6 }),
    affinity: fc.option(affinityArbitrary(options), { freq: 1 }),
    requests: fc.option(fc.constantFrom<unknown>({}, { cpu: 1 }, { memory: '1Gi' }), { freq: 1 }),
    runner: fc.constantFrom(null, 'inprocess', 'docker'),
  });
}

export const jsonObjectArbitrary: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      a: fc.oneof(scalar, fc.constant(null), fc.constant([])) as fc.Arbitrary<JsonValue>,
      b: scalar,
      c: fc.record({ d: scalar }) as fc.Arbitrary<JsonValue>,
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map((object): JsonObject => ({ ...object }));

export function requestArbitrary(): fc.Arbitrary<DispatchRequest> {
  const name = fc.nat(400).map((n) => `w-${n}`);
  return fc.record({
    input: fc.oneof(jsonObjectArbitrary, fc.constant(undefined)),
    routingInput: fc.option(jsonObjectArbitrary),
    targetRoles: fc.constantFrom([], [], ['worker'], ['gpu-worker', 'worker'], ['nobody']),
    requiredWorker: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, name),
    preferredWorker: fc.option(fc.oneof(name, fc.constantFrom('a', 'Z'))),
    unclaimedBefore: fc.array(fc.oneof(name, fc.constantFrom('a', 'Z')), { maxLength: 2 }),
  });
}
