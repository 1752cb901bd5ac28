import { describe, expect, test } from 'vitest';
import { dispatchRequest, workerFacts } from '../testing/worker-facts.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';
import { blind } from './blind.ts';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import { explain } from './explain.ts';
import { prepareFleet } from './fleet.ts';
import { compilePlan } from './plan.ts';
import type { DispatchRequest, DispatchRules } from './request.ts';

const cohort = { $routing_input: 'cohort' };
const preferCohort = { kind: 'prefer', selector: 'label:cohort', op: '==', value: cohort, weight: 5 };
const leastLoad = { kind: 'least', selector: 'load', weight: 1 };
const requireCohort = { kind: 'match', selector: 'label:cohort', op: '==', value: cohort };

function run(
  rules: Partial<DispatchRules>,
  fleet: WorkerFacts[],
  request: Partial<DispatchRequest> = {},
): { shown: Decision; raw: Decision } {
  const plan = compilePlan({ workflowRef: null, policy: null, affinity: null, requests: null, runner: null, ...rules });
  const raw = decide(plan, prepareFleet(fleet), dispatchRequest(request));
  return { raw, shown: blind(raw, plan.blinding) };
}

const fleet = [
  workerFacts('b', { labels: { cohort: 'beta' }, load: 2 }),
  workerFacts('a', { labels: { cohort: 'alpha' } }),
  workerFacts('c', { status: 'STALE' }),
];

test('a version that does not name routing input is not blinded', () => {
  const { raw, shown } = run({ policy: { terms: [leastLoad] }, affinity: { cohort: 'beta' } }, fleet, {
    routingInput: { cohort: 'x' },
  });
  expect(shown).toBe(raw);
  expect(raw.blinded).toBe(false);
  expect(run({ affinity: { routing_input: 'x' } }, fleet).shown.blinded).toBe(false);
});

describe('a policy that names it (ruling 23)', () => {
  const rules = { policy: { terms: [preferCohort, leastLoad] } };
  const { shown, raw } = run(rules, fleet, { routingInput: { cohort: 'beta' } });

  test('withholds its terms, totals, ranks, margin and tie-break; the rest stays', () => {
    expect(shown).toMatchObject({
      outcome: 'ASSIGNED',
      winner: 'b',
      blinded: true,
      margin: null,
      tieBreak: 'NONE',
      eligibleCount: 2,
    });
    expect(shown.terms).toEqual([
      {
        text: 'prefer(label("cohort") == routing_input("cohort"))',
        weight: 5,
        active: null,
        withheld: true,
        note: null,
      },
      raw.terms[1],
    ]);
    expect(shown.candidates.map((c) => [c.worker, c.rank, c.total, c.rejected])).toEqual([
      ['a', null, null, null],
      ['b', null, null, null],
      ['c', null, null, 'STALE'],
    ]);
    for (const candidate of shown.candidates.slice(0, 2)) {
      expect(candidate.cells[0]).toEqual({
        state: 'WITHHELD',
        value: null,
        valueAgeMs: null,
        normalised: null,
        weighted: null,
      });
      expect(candidate.cells[1]?.state).toBe('SCORED');
    }
    expect(shown.rejections).toEqual([{ reason: 'STALE', count: 1 }]);
  });

  test('also where the execution had none', () => {
    expect(run(rules, fleet).shown).toMatchObject({ blinded: true, winner: 'a', margin: null });
  });

  test('the explanation tells nothing either', () => {
    expect(explain(shown)).toEqual([
      'b was chosen; its score is withheld, because this version reads routing input.',
      '3 considered. 1 left out: stale 1.',
    ]);
  });
});

describe('an affinity that names it (ruling 23)', () => {
  const rules = { affinity: [requireCohort], policy: { terms: [leastLoad] } };

  test('withholds who passed it and who had room; counts are those of the earlier filters', () => {
    const full = workerFacts('d', { labels: { cohort: 'beta' }, capacity: 1, load: 1 });
    const { shown } = run(rules, [...fleet, full], { routingInput: { cohort: 'beta' } });
    expect(shown).toMatchObject({
      winner: 'b',
      eligibleCount: 3,
      rejectedCount: 1,
      rejections: [{ reason: 'STALE', count: 1 }],
    });
    expect(shown.candidates.map((c) => [c.worker, c.rejected, c.cells.map((cell) => cell.state)])).toEqual([
      ['a', null, ['WITHHELD']],
      ['b', null, ['WITHHELD']],
      ['d', null, ['WITHHELD']],
      ['c', 'STALE', []],
    ]);
  });

  test('parked: saturated and mismatched read the same', () => {
    const full = workerFacts('d', { labels: { cohort: 'beta' }, capacity: 1, load: 1 });
    const mismatched = run(rules, [full], { routingInput: { cohort: 'gamma' } });
    const saturated = run(rules, [full], { routingInput: { cohort: 'beta' } });
    expect(saturated.shown.reason).toBe('routing constraint unsatisfied');
    expect(saturated.shown).toEqual(mismatched.shown);
    expect(saturated.raw.reason).not.toBe(mismatched.raw.reason);
  });

  test('a failure says neither key nor value; a problem that always shows keeps its words', () => {
    const absent = run(rules, fleet);
    expect(absent.shown).toMatchObject({ outcome: 'FAILED', reason: 'routing constraint unsatisfied' });
    const other = { kind: 'match', selector: 'label:dc', op: '==', value: { $input: 'dc' } };
    const both = { affinity: [requireCohort, other] };
    const reasons = [null, { cohort: 'beta' }].map((routingInput) => run(both, fleet, { routingInput }).shown.reason);
    expect(reasons).toEqual([
      'input("dc") is absent, and label("dc") requires it',
      'input("dc") is absent, and label("dc") requires it',
    ]);
  });
});

test('whether a malformed term behind a routing condition was reached is withheld too', () => {
  const hidden = {
    kind: 'when',
    if: { routing_input: 'cohort', op: '==', value: 'beta' },
    then: { kind: 'most', weight: 1 },
  };
  const rules = { policy: { terms: [hidden, leastLoad] } };
  const reached = run(rules, fleet, { routingInput: { cohort: 'beta' } });
  const not = run(rules, fleet, { routingInput: { cohort: 'alpha' } });
  expect([reached.raw.degraded, not.raw.degraded]).toEqual(['term 1 has no selector', null]);
  expect(reached.shown).toEqual(not.shown);
  expect(not.shown.degraded).toContain('term 1 is malformed');
});

test('which candidates of a large fleet are kept does not follow from the routing value', () => {
  const name = (i: number): string => `w-${String(i).padStart(3, '0')}`;
  const many = Array.from({ length: 200 }, (_, i) =>
    workerFacts(name(i), { labels: { cohort: i < 100 ? 'low' : 'high', star: i === 150 ? 'yes' : 'no' } }),
  );
  const star = { kind: 'prefer', selector: 'label:star', op: '==', value: 'yes', weight: 100 };
  const byName = [...many.slice(0, 49).map((worker) => worker.name), name(150)];
  for (const rules of [
    { policy: { terms: [preferCohort, star] } },
    { policy: { terms: [star] }, affinity: [{ ...requireCohort, op: '!=' }] },
  ]) {
    for (const value of ['high', 'low', 'none']) {
      const { shown } = run(rules, many, { routingInput: { cohort: value } });
      if (shown.winner !== name(150)) continue;
      expect(shown.candidates.map((c) => c.worker)).toEqual(byName);
    }
  }
  expect(run({ policy: { terms: [preferCohort, star] } }, many, { routingInput: { cohort: 'high' } }).raw.winner).toBe(
    name(150),
  );
});
