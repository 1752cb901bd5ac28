import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSelector } from '../decision/fleet.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import { workerFacts } from '../testing/worker-facts.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';
import { compileAffinity, passesCheck, resolveAffinity, ROUTING_UNSATISFIED } from './affinity.ts';

const match = (selector: unknown, op: string, value: unknown, more: object = {}) => ({
  kind: 'match',
  selector,
  op,
  value,
  ...more,
});
const from = (path: string) => ({ $input: path });
const label = (key: string, prefix = 'cache.') => ({ kind: 'label', prefix, input: key });

function ask(affinity: unknown, facts: WorkerFacts, input: JsonValue = {}, routingInput: JsonObject | null = null) {
  const compiled = compileAffinity(affinity);
  if (compiled === null) throw new Error('no affinity');
  const { checks, problems } = resolveAffinity(compiled, { input, routingInput });
  const read = (selector: string) => readSelector(facts, selector, facts.load);
  return {
    match: problems.length === 0 && checks.every((check) => passesCheck(check, read)),
    problems,
    kind: problems[0] === undefined ? null : problems[0].routing ? 'routing-blind' : problems[0].kind,
  };
}

const worker = workerFacts('w', {
  labels: { region: 'eu', n: '3', flag: 'true', 'cache.imagenet': 'true', 'flux.service.llama': 'true' },
  metadata: { health: 0.9, version: 5, name: 'x' },
  metrics: { busy: 100 },
});

describe('labels and metadata', () => {
  test.each([
    ['equal', [match('label:region', '==', 'eu')], true],
    ['different', [match('label:region', '==', 'us')], false],
    ['number input as text', [match('label:n', '==', 3)], true],
    ['not as number', [match('label:n', '==', '03')], false],
    ['boolean as true', [match('label:flag', '==', true)], true],
    ['absent and ==', [match('label:zone', '==', 'a')], false],
    ['absent and !=', [match('label:zone', '!=', 'a')], true],
    ['metadata >=', [match('meta:health', '>=', 0.8)], true],
    ['metadata as number', [match('meta:version', '==', '5.0')], true],
    ['metadata absent and !=', [match('meta:zone', '!=', 1)], true],
    ['metadata is not a label', [match('meta:region', '==', 'eu')], false],
    ['all must hold', [match('label:region', '==', 'eu'), match('label:n', '==', '4')], false],
  ])('%s', (_, affinity, expected) => {
    expect(ask(affinity, worker)).toMatchObject({ match: expected, kind: null });
  });

  test('null, arrays and objects as reference: != holds, nothing else (ruling 5)', () => {
    for (const value of [null, [], {}]) {
      expect(ask([match('label:region', '==', from('v'))], worker, { v: value }).match).toBe(false);
      expect(ask([match('label:region', '!=', from('v'))], worker, { v: value }).match).toBe(true);
      expect(ask([match('meta:health', '>=', from('v'))], worker, { v: value }).match).toBe(false);
      expect(ask([match('meta:health', '!=', from('v'))], worker, { v: value }).match).toBe(true);
    }
  });

  test('a label map wants every label, exactly; an empty one nothing', () => {
    expect(ask({ region: 'eu', n: '3' }, worker).match).toBe(true);
    expect(ask({ region: 'eu', n: '4' }, worker).match).toBe(false);
    expect(ask({}, worker).match).toBe(true);
    expect(ask(JSON.parse('{"__proto__":"x"}'), worker).match).toBe(false);
  });
});

describe('what can never match (ruling 17)', () => {
  test('an absent input is unresolved, also for a static metadata key, for == and !=', () => {
    for (const op of ['==', '!=']) {
      expect(ask([match('label:region', op, from('dc'))], worker).kind).toBe('unresolved');
      expect(ask([match('meta:name', op, from('dc'))], worker).kind).toBe('unresolved');
    }
    expect(ask([match('meta:name', '==', from('a.b'))], worker).problems[0]?.message).toContain('input("a.b")');
    expect(ask([match(label('ds'), '==', 'true')], worker).kind).toBe('unresolved');
  });

  test('optional forgives an absent path and nothing else', () => {
    const optional = { optional: true };
    expect(ask([match('label:region', '==', from('dc'), optional)], worker)).toMatchObject({ match: true, kind: null });
    expect(ask([match('meta:name', '!=', from('dc'), optional)], worker)).toMatchObject({ match: true, kind: null });
    expect(ask([match('label:region', '==', from('dc'), optional)], worker, { dc: 'us' }).match).toBe(false);
    expect(ask([match(label('ds'), '==', 'true', optional)], worker, { ds: {} }).kind).toBe('invalid');
    expect(ask([match('label:region', '<', 'eu', optional)], worker).kind).toBe('malformed');
  });

  test.each<[string, object, JsonValue]>([
    ['null', label('v'), null],
    ['an object', label('v'), {}],
    ['an array', label('v'), ['a']],
    ['a bad shape', label('v'), 'a/b'],
    ['an empty fragment after a separator', label('v'), ''],
    ['a newline', label('v'), 'x\n'],
    ['too long for a label', label('v'), 'x'.repeat(123)],
    ['too long for metadata', { kind: 'meta', prefix: 'ok.', input: 'v' }, 'x'.repeat(62)],
    ['a service name in upper case', label('v', 'flux.service.'), 'Big_8B'],
    ['a service name with --', label('v', 'flux.service.'), 'a--b'],
    ['a service name of 33 characters', label('v', 'flux.service.'), 'a'.repeat(33)],
  ])('a key that no worker can have is invalid: %s', (_, selector, value) => {
    expect(ask([match(selector, '==', 'true')], worker, { v: value })).toMatchObject({ match: false, kind: 'invalid' });
  });

  test('keys that can be are looked up', () => {
    expect(ask([match(label('v'), '==', 'true')], worker, { v: 'imagenet' }).match).toBe(true);
    expect(ask([match(label('v', 'flux.service.'), '==', 'true')], worker, { v: 'llama' }).match).toBe(true);
    expect(ask([match(label('v', 'n'), '==', '3')], worker, { v: '' }).match).toBe(true);
    expect(ask([match(label('v'), '==', 'true')], worker, { v: 'x'.repeat(122) }).kind).toBeNull();
  });

  test.each<[string, unknown]>([
    ['no list', 'region == eu'],
    ['an empty list', []],
    ['a term that is no object', [null]],
    ['an unknown kind', [{ kind: 'prefer', selector: 'label:a', op: '==', value: 1 }]],
    ['a metric', [match('metric:busy', '==', 1)]],
    ['an order on a label', [match('label:n', '<', 5)]],
    ['an empty reference', [match('label:n', '==', { $input: '' })]],
    ['no value', [match('label:n', '==', undefined)]],
    ['a broken key', [match({ kind: 'label', prefix: '', input: 'x' }, '==', 1)]],
    ['a condition that is no object', [{ kind: 'when', if: 5, then: match('label:n', '==', '3') }]],
    [
      'a condition on load',
      [{ kind: 'when', if: { selector: 'load', op: '<', value: 1 }, then: match('label:n', '==', '3') }],
    ],
    [
      'an order on an input',
      [{ kind: 'when', if: { input: 'x', op: '<', value: 1 }, then: match('label:n', '==', '3') }],
    ],
    ['a body that is no match', [{ kind: 'when', if: { input: 'x', op: '==', value: 1 }, then: 5 }]],
    ['a label map with an object', { region: {} }],
  ])('malformed: %s', (_, affinity) => {
    expect(ask(affinity, worker)).toMatchObject({ match: false, kind: 'malformed' });
  });
});

describe('when', () => {
  const when = (condition: object, then: object) => [{ kind: 'when', if: condition, then }];
  const broken = match('label:region', '==', from('absent'));

  test('under an inactive condition nothing is looked at; absent is inactive for both operators', () => {
    for (const op of ['==', '!='])
      expect(ask(when({ input: 'tier', op, value: 'gold' }, broken), worker).kind).toBeNull();
    expect(ask(when({ input: 'tier', op: '==', value: 'gold' }, broken), worker, { tier: 'silver' }).match).toBe(true);
    expect(ask(when({ input: 'tier', op: '==', value: 'gold' }, broken), worker, { tier: 'gold' }).kind).toBe(
      'unresolved',
    );
    expect(ask(when({ input: 'tier', op: '==', value: null }, broken), worker, { tier: null }).kind).toBe('unresolved');
  });

  test('under a worker-state condition nothing fails the execution, it only rejects that worker', () => {
    const busy = when({ selector: 'metric:busy', op: '>=', value: 100 }, broken);
    expect(ask(busy, worker)).toMatchObject({ match: false, kind: null });
    expect(ask(busy, workerFacts('idle', { metrics: { busy: 1 } }))).toMatchObject({ match: true, kind: null });
    const unreadable = when({ selector: 'metric:busy', op: '>=', value: 100 }, match('label:n', '<', 1));
    expect(ask(unreadable, worker)).toMatchObject({ match: false, kind: null });
    const missing = when({ selector: 'meta:gone', op: '!=', value: 1 }, match('label:region', '==', 'us'));
    expect(ask(missing, worker)).toMatchObject({ match: true, kind: null });
  });
});

describe('routing input', () => {
  test('a problem with it says neither key nor value nor kind (G18)', () => {
    const secret = { secretKey: { deep: 'canary' } };
    for (const term of [
      match('label:region', '==', { $routing_input: 'absentKey' }),
      match({ kind: 'label', prefix: 'cache.', routing_input: 'secretKey' }, '==', 'true'),
      match({ kind: 'label', prefix: 'cache.', routing_input: 'absentKey' }, '==', 'true'),
      match({ kind: 'label', prefix: 'cache.', input: 'absent' }, '==', { $routing_input: 'secretKey.deep' }),
    ]) {
      const { problems, kind } = ask([term], worker, {}, secret);
      expect(kind).toBe('routing-blind');
      expect(problems[0]?.message).toBe(ROUTING_UNSATISFIED);
    }
  });

  test('input wins where a spec has both, and neither falls back to the other', () => {
    const both = match({ kind: 'label', prefix: 'cache.', input: 'a', routing_input: 'b' }, '==', 'true');
    expect(ask([both], worker, { a: 'imagenet' }, { b: 'x' }).match).toBe(true);
    expect(ask([match('label:region', '==', from('r'))], worker, {}, { r: 'eu' }).kind).toBe('unresolved');
  });
});

test('whatever a spec says, a problem means that nobody matches (both passes agree)', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (affinity) => {
      const compiled = compileAffinity(affinity);
      if (compiled === null) return;
      const { problems } = resolveAffinity(compiled, { input: {}, routingInput: null });
      if (!Array.isArray(affinity) && (typeof affinity !== 'object' || affinity === null))
        expect(problems).not.toEqual([]);
    }),
  );
});
