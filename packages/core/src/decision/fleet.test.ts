import { expect, test } from 'vitest';
import { dispatchRequest, workerFacts } from '../testing/worker-facts.ts';
import { decide } from './decide.ts';
import { prepareFleet } from './fleet.ts';
import { compilePlan } from './plan.ts';

const plan = compilePlan({
  workflowRef: null,
  policy: { terms: [{ kind: 'prefer', selector: 'label:region', op: '==', value: 'eu', weight: 1 }] },
  affinity: null,
  requests: null,
  runner: null,
});

test('positions stay until a worker is removed; the last one takes the hole', () => {
  const fleet = prepareFleet(['a', 'b', 'c'].map((name) => workerFacts(name)));
  expect(['a', 'b', 'c', 'd'].map((name) => fleet.indexOf(name))).toEqual([0, 1, 2, -1]);
  fleet.setLoad(2, 7);
  expect(fleet.remove('a')).toBe(true);
  expect(fleet.remove('a')).toBe(false);
  expect([fleet.size, fleet.indexOf('c'), fleet.loadOf(fleet.indexOf('c'))]).toEqual([2, 0, 7]);
  expect(() => fleet.update(0, workerFacts('z'))).toThrow(RangeError);
});

test('an update is seen by the columns that were built before', () => {
  const fleet = prepareFleet([workerFacts('a', { labels: { region: 'eu' } }), workerFacts('b')]);
  expect(decide(plan, fleet, dispatchRequest()).winner).toBe('a');
  fleet.update(0, workerFacts('a'));
  fleet.update(1, workerFacts('b', { labels: { region: 'eu' } }));
  expect(decide(plan, fleet, dispatchRequest()).winner).toBe('b');
  fleet.add(workerFacts('a', { labels: { region: 'eu' } }));
  expect(decide(plan, fleet, dispatchRequest()).winner).toBe('a');
});

test('thousands of changes and of different keys keep it right and bounded', () => {
  const byKey = compilePlan({
    workflowRef: null,
    policy: {
      terms: [
        {
          kind: 'prefer',
          selector: { kind: 'label', prefix: 'cache.', input: 'k' },
          op: '==',
          value: 'true',
          weight: 1,
        },
      ],
    },
    affinity: null,
    requests: null,
    runner: null,
  });
  const fleet = prepareFleet(['a', 'b', 'c'].map((name) => workerFacts(name)));
  for (let i = 0; i < 3000; i++) {
    fleet.update(
      i % 3,
      workerFacts(['a', 'b', 'c'][i % 3] ?? '', { labels: { [`cache.k${i % 700}`]: 'true', region: `r${i}` } }),
    );
    const decision = decide(byKey, fleet, dispatchRequest({ input: { k: `k${i % 700}` } }));
    expect(decision.winner).toBe(['a', 'b', 'c'][i % 3]);
    decide(plan, fleet, dispatchRequest());
  }
});
