import { describe, expect, test } from 'vitest';
import { dispatchRequest, workerFacts } from '../testing/worker-facts.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';
import { decideOnce } from './decide.ts';
import type { Decision, RejectionReason } from './decision.ts';
import type { DecideOptions, DispatchRequest, DispatchRules } from './request.ts';

const score = (...terms: unknown[]) => ({ terms });
const prefer = (selector: unknown, op: string, value: unknown, weight = 1) => ({
  kind: 'prefer',
  selector,
  op,
  value,
  weight,
});
const least = (selector: string, weight = 1) => ({ kind: 'least', selector, weight });
const most = (selector: string, weight = 1) => ({ kind: 'most', selector, weight });
const sticky = (weight = 1) => ({ kind: 'sticky', weight });
const when = (condition: unknown, then: unknown) => ({ kind: 'when', if: condition, then });

function run(
  rules: Partial<DispatchRules>,
  fleet: WorkerFacts[],
  request: Partial<DispatchRequest> = {},
  options: DecideOptions = {},
): Decision {
  const all = { workflowRef: 'default/chat', policy: null, affinity: null, requests: null, runner: null, ...rules };
  return decideOnce(all, fleet, dispatchRequest(request), options);
}

const winner = (policy: unknown, fleet: WorkerFacts[], request: Partial<DispatchRequest> = {}) =>
  run({ policy }, fleet, request).winner;
const candidate = (decision: Decision, name: string) => {
  const found = decision.candidates.find((c) => c.worker === name);
  if (found === undefined) throw new Error(`${name} is not kept`);
  return found;
};

describe('filters (ruling 14)', () => {
  const everythingWrong = {
    status: 'OFFLINE',
    connected: false,
    availability: 'CORDONED',
    role: 'api',
    workflows: ['default/other'],
    runners: [],
    labels: {},
    capacity: 1,
    load: 1,
  } as const;
  const rules = {
    runner: 'docker',
    requests: { cpu: 1 },
    affinity: [{ kind: 'match', selector: 'label:region', op: '==', value: 'eu' }],
  };
  const request = { requiredWorker: 'other', targetRoles: ['worker'], unclaimedBefore: ['w'] };
  /** What to put right, in the order of the filters. */
  const repairs: [RejectionReason, Parameters<typeof workerFacts>[1], Partial<DispatchRequest>][] = [
    ['OFFLINE', { status: 'HEALTHY' }, {}],
    ['DISCONNECTED', { connected: true }, {}],
    ['CORDONED', { availability: 'ACTIVE' }, {}],
    ['NOT_BOUND_WORKER', {}, { requiredWorker: 'w' }],
    ['ROLE_MISMATCH', { role: 'worker' }, {}],
    ['NO_HANDLER', { workflows: ['default/chat'] }, {}],
    ['RUNNER_MISSING', { runners: ['docker'] }, {}],
    ['RESOURCES_SHORT', { resources: { cpu_available: 2 } }, {}],
    ['AFFINITY_UNMET', { labels: { region: 'eu' } }, {}],
    ['NO_CAPACITY', { load: 0 }, {}],
  ];

  test('a candidate is reported under the first filter that rejects it; previews report all of them', () => {
    let facts: Parameters<typeof workerFacts>[1] = everythingWrong;
    let asked: Partial<DispatchRequest> = request;
    const order = repairs.map(([reason]) => reason);
    for (const [index, [reason, repair, more]] of repairs.entries()) {
      const decision = run(rules, [workerFacts('w', facts)], asked);
      expect(decision).toMatchObject({ outcome: 'PARKED', rejections: [{ reason, count: 1 }] });
      expect(candidate(decision, 'w').rejections).toHaveLength(1);
      const all = candidate(run(rules, [workerFacts('w', facts)], asked, { allReasons: true }), 'w');
      expect(all.rejections.map((r) => r.reason)).toEqual(order.slice(index));
      expect(all.rejected).toBe(reason);
      facts = { ...facts, ...repair };
      asked = { ...asked, ...more };
    }
    expect(run(rules, [workerFacts('w', facts)], asked).winner).toBe('w');
  });

  test('STALE, UNHEALTHY and DRAINING reject too, every filter whatever features are on (G9)', () => {
    const states = [{ status: 'STALE' }, { status: 'UNHEALTHY' }, { availability: 'DRAINING' }] as const;
    for (const state of states) {
      for (const policy of [null, score(sticky(100)), score(least('load'))]) {
        const decision = run({ policy }, [workerFacts('w', state)], { preferredWorker: 'w' });
        expect(decision.outcome).toBe('PARKED');
        expect(decision.rejections).toEqual([{ reason: Object.values(state)[0], count: 1 }]);
      }
    }
  });

  test('a capacity of 0 reads as none; a full worker is full for hints and bindings as well (ruling 15)', () => {
    expect(run({}, [workerFacts('w', { capacity: 0, load: 9 })]).winner).toBe('w');
    const full = workerFacts('w', { capacity: 2, load: 2 });
    expect(run({}, [full], { preferredWorker: 'w', requiredWorker: 'w' }).rejections).toEqual([
      { reason: 'NO_CAPACITY', count: 1 },
    ]);
  });

  test('a worker that did not claim is skipped once, unless it is the only one (ruling 31)', () => {
    const [a, b] = [workerFacts('a'), workerFacts('b', { load: 5 })];
    const skipped = run({}, [a, b], { unclaimedBefore: ['a'] });
    expect(skipped.winner).toBe('b');
    expect(candidate(skipped, 'a').rejected).toBe('UNCLAIMED_BEFORE');
    expect(run({}, [a], { unclaimedBefore: ['a'] }).winner).toBe('a');
    expect(run({}, [a, workerFacts('c', { status: 'STALE' })], { unclaimedBefore: ['a'] }).winner).toBe('a');
  });

  test('rejections say what was wanted and what there was', () => {
    const decision = run(
      { affinity: [{ kind: 'match', selector: 'label:gpu', op: '==', value: { $input: 'gpu' } }] },
      [workerFacts('w', { labels: { gpu: 'l4' } }), workerFacts('x')],
      { input: { gpu: 'a100' } },
    );
    expect(candidate(decision, 'w').rejections).toEqual([
      { reason: 'AFFINITY_UNMET', message: 'lacks gpu = a100', wanted: 'gpu = a100', had: 'l4' },
    ]);
    expect(candidate(decision, 'x').rejections[0]?.had).toBe('none');
  });
});

describe('without a policy (ruling 11)', () => {
  const fleet = [workerFacts('b', { load: 1 }), workerFacts('a', { load: 1 }), workerFacts('c', { load: 4 })];

  test('the hinted worker if eligible, else least loaded, ties by name', () => {
    expect(run({}, fleet, { preferredWorker: 'c' })).toMatchObject({
      winner: 'c',
      method: 'HINT',
      tieBreak: 'NONE',
      margin: null,
    });
    expect(run({}, fleet, { preferredWorker: 'ghost' })).toMatchObject({
      winner: 'a',
      method: 'LEAST_LOADED',
      tieBreak: 'NAME',
    });
    expect(run({}, fleet.slice(1))).toMatchObject({ winner: 'a', tieBreak: 'NONE' });
    const full = workerFacts('c', { load: 4, capacity: 4 });
    expect(run({}, [...fleet.slice(0, 2), full], { preferredWorker: 'c' })).toMatchObject({
      winner: 'a',
      method: 'LEAST_LOADED',
    });
  });

  test('names decide by code point, on every machine (G5)', () => {
    const names = ['𝒳', 'ﬀ', 'é', 'a', 'Z'];
    const decision = run(
      { policy: score(least('load')) },
      names.map((name) => workerFacts(name)),
    );
    expect(decision.candidates.map((c) => c.worker)).toEqual(['Z', 'a', 'é', 'ﬀ', '𝒳']);
    expect(decision.tieBreak).toBe('NAME');
  });
});

describe('scores', () => {
  test('the winner, its margin and the cells that it came from', () => {
    const policy = score(
      prefer('label:region', '==', { $input: 'region' }, 10),
      least('metric:queue', 5),
      most('resource:memory_available'),
      sticky(3),
      least('load'),
    );
    const fleet = [
      workerFacts('w-1', { labels: { region: 'eu' }, metrics: { queue: 0 }, load: 3 }),
      workerFacts('w-4', {
        labels: { region: 'eu' },
        metrics: { queue: 12 },
        load: 5,
        resources: { memory_available: 8 },
      }),
      workerFacts('w-9', { load: 0 }),
    ];
    const decision = run({ policy }, fleet, { input: { region: 'eu' }, preferredWorker: 'w-4' });
    expect(decision).toMatchObject({
      outcome: 'ASSIGNED',
      winner: 'w-1',
      method: 'ROUTING',
      degraded: null,
      tieBreak: 'NONE',
    });
    expect(candidate(decision, 'w-1').total).toBeCloseTo(15.4);
    expect(decision.margin).toBeCloseTo(15.4 - 13.5);
    expect(candidate(decision, 'w-1').cells.map((cell) => [cell.state, cell.value, cell.normalised])).toEqual([
      ['SCORED', 'eu', 1],
      ['SCORED', 0, 1],
      ['MISSING', null, null],
      ['SCORED', false, 0],
      ['SCORED', 3, 1 - 3 / 5],
    ]);
    expect(candidate(decision, 'w-1').cells[1]?.valueAgeMs).toBe(1000);
    expect(candidate(decision, 'w-4').cells[2]).toMatchObject({
      state: 'SCORED',
      value: 8,
      normalised: 0.5,
      weighted: 0.5,
    });
    expect(decision.terms[0]).toEqual({
      text: 'prefer(label("region") == input("region"))',
      weight: 10,
      active: true,
      withheld: false,
      note: null,
    });
  });

  test('one eligible worker is scored all the same (ruling 12)', () => {
    const decision = run({ policy: score(least('load', 4)) }, [
      workerFacts('w', { load: 2 }),
      workerFacts('x', { status: 'STALE' }),
    ]);
    expect(candidate(decision, 'w')).toMatchObject({ total: 2, rank: 1 });
    expect(decision).toMatchObject({ margin: null, tieBreak: 'NONE' });
  });

  test('equal values give half the weight: finite, whatever is 0 (C15)', () => {
    const decision = run({ policy: score(least('load', 4), most('metric:x')) }, [workerFacts('a'), workerFacts('b')]);
    for (const one of decision.candidates) expect(one.total).toBe(2);
    expect(decision.terms.map((term) => term.active)).toEqual([true, false]);
    expect(decision.terms[1]?.note).toContain('metric:x');
  });

  test('utilization without a capacity is no value, never NaN (F20)', () => {
    const fleet = [
      workerFacts('none', { load: 0 }),
      workerFacts('zero', { capacity: 0 }),
      workerFacts('half', { capacity: 4, load: 2 }),
    ];
    const decision = run({ policy: score(least('utilization')) }, fleet);
    expect(decision.winner).toBe('half');
    expect(candidate(decision, 'none').cells[0]?.state).toBe('MISSING');
    expect(candidate(decision, 'zero').cells[0]?.state).toBe('MISSING');
    const gated = run({ policy: score(when({ selector: 'utilization', op: '<', value: 0.9 }, sticky())) }, fleet, {
      preferredWorker: 'none',
    });
    expect(candidate(gated, 'none').cells[0]).toMatchObject({ state: 'GATED', weighted: 0 });
  });

  test('an empty text is no number: it does not win least (G4)', () => {
    const fleet = [workerFacts('a', { labels: { rack: '' } }), workerFacts('b', { labels: { rack: '7' } })];
    expect(winner(score(least('label:rack')), fleet)).toBe('b');
  });

  test('numbers as text compare as numbers (G1)', () => {
    const cores = ['8', '10', '9', '1e3', '1.10', 'many'].map((n) => workerFacts(`w-${n}`, { labels: { cores: n } }));
    const decision = run({ policy: score(prefer('label:cores', '>', 9)) }, cores);
    const hits = decision.candidates.filter((c) => c.total === 1).map((c) => c.worker);
    expect(hits).toEqual(['w-10', 'w-1e3']);
  });

  test('a boolean means the same in prefer and in require (G3)', () => {
    const w = workerFacts('w', { labels: { spot: 'true' }, metadata: { spot: 'true' } });
    for (const key of ['label:spot', 'meta:spot']) {
      for (const value of [true, 'true', { $input: 'spot' }]) {
        const input = { input: { spot: true } };
        expect(candidate(run({ policy: score(prefer(key, '==', value)) }, [w], input), 'w').total).toBe(1);
        expect(run({ affinity: [{ kind: 'match', selector: key, op: '==', value }] }, [w], input).winner).toBe('w');
      }
    }
  });

  test('the range of a double does not overflow (ruling 7)', () => {
    const fleet = [-1.7e308, 0, 1.7e308].map((m, i) => workerFacts(`w-${i}`, { metrics: { m } }));
    const totals = run({ policy: score(most('metric:m', 2)) }, fleet).candidates.map((c) => c.total);
    expect(totals).toEqual([2, 1, 0]);
  });

  test('what-if weights replace the stored ones, by term', () => {
    const fleet = [workerFacts('a', { labels: { region: 'eu' }, load: 3 }), workerFacts('b')];
    const policy = score(prefer('label:region', '==', 'eu', 10), least('load'));
    expect(run({ policy }, fleet).winner).toBe('a');
    const what = run({ policy }, fleet, {}, { weights: [0.5, null] });
    expect(what.winner).toBe('b');
    expect(what.terms.map((term) => term.weight)).toEqual([0.5, 1]);
    expect(run({ policy }, fleet, {}, { weights: [0] }).winner).toBe('b');
    expect(run({ policy }, fleet, {}, { weights: [Number.NaN, -1] }).winner).toBe('a');
  });
});

describe('stickiness (D1)', () => {
  const policy = score(sticky(100), least('load'));

  test('a hint that fails a hard filter counts for nothing, and the record says so', () => {
    const fleet = [workerFacts('gone', { status: 'OFFLINE' }), workerFacts('here', { load: 9 })];
    const decision = run({ policy }, fleet, { preferredWorker: 'gone' });
    expect(decision.winner).toBe('here');
    expect(decision.terms[0]).toMatchObject({ active: false, note: 'the preferred worker is not eligible' });
    expect(candidate(decision, 'here').cells[0]).toMatchObject({ state: 'INACTIVE', weighted: 0 });
  });

  test('with a policy the hint acts through sticky alone', () => {
    const fleet = [workerFacts('busy', { load: 5 }), workerFacts('idle')];
    expect(winner(score(least('load')), fleet, { preferredWorker: 'busy' })).toBe('idle');
    expect(winner(policy, fleet, { preferredWorker: 'busy' })).toBe('busy');
    const roomy = score(when({ selector: 'load', op: '<', value: 5 }, sticky(3)), least('load'));
    expect(winner(roomy, fleet, { preferredWorker: 'busy' })).toBe('idle');
  });
});

describe('degraded (ruling 10)', () => {
  const fleet = [
    workerFacts('a', { load: 2, labels: { x: 'y' } }),
    workerFacts('b', { load: 1 }),
    workerFacts('c', { load: 1 }),
  ];
  const good = prefer('label:x', '==', 'y', 5);

  test.each<[unknown, string]>([
    [{}, 'the policy has no list of terms'],
    ['score', 'the policy has no list of terms'],
    [score(), 'the policy has no terms'],
    [score(good, null), 'term 2 is not an object'],
    [score(good, { ...good, kind: 'pick' }), 'term 2 is of an unknown kind'],
    [score(good, { ...good, op: 'in' }), 'term 2 has no comparison operator'],
    [score(good, { ...good, selector: 5 }), 'term 2 has no selector'],
    [score(least('load', 0)), 'term 1 has no usable weight'],
    [score({ ...good, weight: true }), 'term 1 has no usable weight'],
    [score({ ...good, weight: 1e308 }), 'term 1 has no usable weight'],
    [score(when({ selector: 'label:x', op: '==', value: 'y' }, sticky())), 'term 1 has a malformed condition'],
    [
      score(when({ selector: 'load', op: '>=', value: 0 }, when({ selector: 'load', op: '>=', value: 0 }, sticky()))),
      'term 1 has a condition inside a condition',
    ],
    [score(when({ input: 'gone', op: '==', value: 1 }, 5)), 'term 1 has a condition around no term'],
  ])('%j', (policy, degraded) => {
    const decision = run({ policy }, fleet, { preferredWorker: 'a' });
    expect(decision).toMatchObject({ winner: 'b', method: 'LEAST_LOADED', degraded, tieBreak: 'NAME', margin: null });
    for (const one of decision.candidates) expect(one).toMatchObject({ total: null, cells: [] });
  });

  test('not where evaluation never comes, and not for what merely reads as missing', () => {
    const hidden = when({ input: 'tier', op: '==', value: 'gold' }, { ...good, weight: 0 });
    expect(run({ policy: score(good, hidden) }, fleet)).toMatchObject({ winner: 'a', degraded: null });
    expect(run({ policy: score(good, hidden) }, fleet, { input: { tier: 'gold' } }).degraded).toBe(
      'term 2 has no usable weight',
    );
    expect(run({ policy: score(good, prefer('quantum:x', '==', 1)) }, fleet)).toMatchObject({
      winner: 'a',
      degraded: null,
    });
    expect(run({ policy: score({ kind: 'prefer', selector: 'label:x', op: '==', value: 'y' }) }, fleet).winner).toBe(
      'a',
    );
  });
});

describe('nobody (rulings 17 and 19)', () => {
  const eu = [{ kind: 'match', selector: 'label:region', op: '==', value: 'eu' }];

  test('a saturated fleet is said to be at capacity, a mismatch to be a mismatch (F2)', () => {
    const full = [1, 2, 3].map((i) => workerFacts(`w-${i}`, { labels: { region: 'eu' }, capacity: 1, load: 1 }));
    const other = [4, 5].map((i) => workerFacts(`w-${i}`, { labels: { region: 'us' } }));
    const saturated = run({ affinity: eu }, [...full, ...other]);
    expect(saturated.reason).toBe('3 of 5 workers match (region = eu), all at capacity');
    expect(saturated.candidates.map((c) => c.rejected)).toEqual([
      'NO_CAPACITY',
      'NO_CAPACITY',
      'NO_CAPACITY',
      'AFFINITY_UNMET',
      'AFFINITY_UNMET',
    ]);
    expect(run({ affinity: eu }, other).reason).toBe('0 of 2 workers eligible: 2 without region = eu');
    expect(run({}, []).reason).toBe('no worker is registered');
  });

  test('a bound execution says what is wrong with the bound worker, without naming it (ruling 20)', () => {
    const fleet = [workerFacts('w-7', { status: 'OFFLINE' }), workerFacts('w-8')];
    expect(run({}, fleet, { requiredWorker: 'w-7' }).reason).toBe('the bound worker is offline');
    expect(run({}, fleet, { requiredWorker: 'w-9' }).reason).toBe('the bound worker is not registered');
    expect(run({ affinity: eu }, fleet, { requiredWorker: 'w-8' }).reason).toBe('the bound worker lacks region = eu');
  });

  test('an execution that can never match fails at once, also with no worker at all', () => {
    const affinity = [{ kind: 'match', selector: 'meta:k', op: '==', value: { $input: 'dc' } }];
    const decision = run({ affinity, policy: score(least('load')) }, []);
    expect(decision).toMatchObject({ outcome: 'FAILED', winner: null, failure: { type: 'AffinityResolutionError' } });
    expect(decision.reason).toBe('input("dc") is absent, and meta("k") requires it');
    expect(decision.reason).toBe(decision.failure?.message);
  });

  test('nothing is left of the reason when the cause is gone (H10)', () => {
    const parked = run({ affinity: eu }, [workerFacts('w')]);
    const placed = run({ affinity: eu }, [workerFacts('w', { labels: { region: 'eu' } })]);
    expect(parked.reason).not.toBeNull();
    expect(placed).toMatchObject({ outcome: 'ASSIGNED', reason: null, rejections: [], rejectedCount: 0 });
  });
});

test('among more equals than are kept, load and name still decide', () => {
  const name = (i: number): string => `w-${String(i).padStart(3, '0')}`;
  const fleet = Array.from({ length: 120 }, (_, i) => workerFacts(name(119 - i), { load: i % 2 }));
  const policy = score(prefer('label:gone', '==', 'x'));
  const expected = Array.from({ length: 50 }, (_, i) => name(2 * i + 1));
  for (const one of [policy, null]) {
    const decision = run({ policy: one }, fleet);
    expect(decision.candidates.map((c) => c.worker)).toEqual(expected);
  }
});

test('of 5,000 workers 50 are kept, the best first, the winner among them, counts over all (G19)', () => {
  const fleet = Array.from({ length: 5000 }, (_, i) =>
    workerFacts(`w-${i}`, {
      status: i % 2 === 0 ? 'HEALTHY' : 'STALE',
      metrics: { m: i },
      role: i % 10 < 5 ? 'worker' : 'api',
    }),
  );
  const decision = run({ policy: score(most('metric:m')) }, fleet, { targetRoles: ['worker'] });
  expect(decision.winner).toBe('w-4994');
  expect(decision.candidates).toHaveLength(50);
  expect(decision.candidates.map((c) => c.rank)).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  expect(decision).toMatchObject({ eligibleCount: 1500, rejectedCount: 3500 });
  expect(decision.rejections).toEqual([
    { reason: 'STALE', count: 2500 },
    { reason: 'ROLE_MISMATCH', count: 1000 },
  ]);
  const parked = run({}, fleet, { targetRoles: ['none'] });
  expect(parked.candidates).toHaveLength(50);
  expect(new Set(parked.candidates.map((c) => c.rejected))).toEqual(new Set(['ROLE_MISMATCH']));
});
