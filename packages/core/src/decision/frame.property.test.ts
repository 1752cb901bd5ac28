import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../lib/json.ts';
import {
  fleetArbitrary,
  jsonObjectArbitrary,
  requestArbitrary,
  rulesArbitrary,
} from '../testing/dispatch-arbitraries.ts';
import { dispatchRequest, workerFacts } from '../testing/worker-facts.ts';
import { blind } from './blind.ts';
import { decide, decideOnce, decideTraced } from './decide.ts';
import { type DecisionFrame, FRAME_MAX, frameFacts, packDecisions, unpackDecision } from './frame.ts';
import { prepareFleet } from './fleet.ts';
import { compilePlan } from './plan.ts';

const stored = (frame: DecisionFrame | undefined): DecisionFrame => JSON.parse(JSON.stringify(frame)) as DecisionFrame;

test('frame and row rebuild exactly the blinded decision', () => {
  const rules = fc.array(rulesArbitrary({ routing: true, broken: true }), { minLength: 1, maxLength: 2 });
  const requests = fc.array(requestArbitrary(), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(rules, fleetArbitrary(70), requests, (versions, workers, executions) => {
      const plans = versions.map(compilePlan);
      const fleet = prepareFleet(workers);
      const traced = executions.map((request, index) => {
        const plan = plans[index % plans.length] ?? plans[0]!;
        const decision = decideTraced(plan, fleet, request);
        const expected = blind(decide(plan, fleet, request), plan.blinding);
        if (decision.winner !== null) {
          const at = fleet.indexOf(decision.winner);
          fleet.setLoad(at, fleet.loadOf(at) + 1);
        }
        return { decision, expected };
      });
      const { frames, plans: framePlans, rows } = packDecisions(traced.map((t) => t.decision));
      const texts = frames.map(stored);
      rows.forEach((row, index) => {
        const frame = texts[row.frame];
        expect(framePlans[row.frame]).toBe(traced[index]?.decision.parts.plan);
        expect(unpackDecision(frame!, JSON.parse(JSON.stringify(row)) as typeof row)).toEqual(traced[index]?.expected);
      });
    }),
    { numRuns: 300 },
  );
});

test('a frame holds at most 250 candidates, a row at most 50', () => {
  const region = (i: number) => `r${i}`;
  const fleet = prepareFleet(
    Array.from({ length: 600 }, (_, i) => workerFacts(`w-${i}`, { labels: { region: region(i % 10) } })),
  );
  const plan = compilePlan({
    workflowRef: null,
    policy: { terms: [{ kind: 'prefer', selector: 'label:region', op: '==', value: { $input: 'r' }, weight: 1 }] },
    affinity: null,
    requests: null,
    runner: null,
  });
  const decisions = Array.from({ length: 20 }, (_, i) =>
    decideTraced(plan, fleet, dispatchRequest({ input: { r: region(i % 10) } })),
  );
  const { frames, rows } = packDecisions(decisions);
  expect(frames.length).toBeGreaterThan(1);
  for (const frame of frames) expect(frame.candidates.length).toBeLessThanOrEqual(FRAME_MAX);
  rows.forEach((row, i) => {
    expect(row.kept.length).toBeLessThanOrEqual(50);
    expect(unpackDecision(stored(frames[row.frame]), row)).toEqual(decisions[i]?.decision);
  });
});

test('facts above 16 KB are cut to what was read, and the decision still rebuilds', () => {
  const labels = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, 'x'.repeat(250)]));
  const fleet = prepareFleet([
    workerFacts('big', { labels: { ...labels, region: 'eu' }, metrics: { temp: 3 } }),
    workerFacts('small'),
  ]);
  const plan = compilePlan({
    workflowRef: 'default/chat',
    policy: {
      terms: [
        { kind: 'prefer', selector: 'label:region', op: '==', value: 'eu', weight: 2 },
        {
          kind: 'when',
          if: { selector: 'metric:temp', op: '<', value: 5 },
          then: { kind: 'least', selector: 'load', weight: 1 },
        },
      ],
    },
    affinity: null,
    requests: null,
    runner: null,
  });
  const traced = decideTraced(plan, fleet, dispatchRequest());
  const { frames, rows } = packDecisions([traced]);
  const frame = stored(frames[0]);
  expect(JSON.stringify(frame).length).toBeLessThan(4000);
  expect(frame.candidates.map((c) => [c.worker, c.cut])).toEqual([
    ['big', true],
    ['small', false],
  ]);
  expect(unpackDecision(frame, rows[0]!)).toEqual(traced.decision);
});

test('the stored candidates can be scored again with another policy', () => {
  const workers = [
    workerFacts('a', { metrics: { temp: 70 }, load: 1 }),
    workerFacts('b', { metrics: { temp: 40 }, load: 3 }),
  ];
  const rules = {
    workflowRef: null,
    policy: { terms: [{ kind: 'least', selector: 'load', weight: 1 }] },
    affinity: null,
    requests: null,
    runner: null,
  };
  const traced = decideTraced(compilePlan(rules), prepareFleet(workers), dispatchRequest());
  expect(traced.winner).toBe('a');
  const { frames, rows } = packDecisions([traced]);
  const facts = frameFacts(stored(frames[0]), rows[0]!);
  const cooler = { ...rules, policy: { terms: [{ kind: 'least', selector: 'metric:temp', weight: 1 }] } };
  expect(decideOnce(cooler, facts, dispatchRequest())).toEqual(decideOnce(cooler, workers, dispatchRequest()));
  expect(decideOnce(cooler, facts, dispatchRequest()).winner).toBe('b');
});

test('nothing of a routing value is in frame or row (G18)', () => {
  const canary = 'canary-value-4711';
  const rules = {
    workflowRef: null,
    policy: {
      terms: [
        { kind: 'prefer', selector: 'label:cohort', op: '==', value: { $routing_input: 'cohort' }, weight: 5 },
        {
          kind: 'prefer',
          selector: { kind: 'label', prefix: 'c.', routing_input: 'cohort' },
          op: '==',
          value: 'true',
          weight: 5,
        },
        {
          kind: 'when',
          if: { routing_input: 'cohort', op: '==', value: 'beta' },
          then: { kind: 'least', selector: 'load', weight: 1 },
        },
      ],
    },
    affinity: [{ kind: 'match', selector: 'meta:cohort', op: '!=', value: { $routing_input: 'cohort' } }],
    requests: null,
    runner: null,
  };
  const plan = compilePlan(rules);
  const workers = [workerFacts('a', { labels: { cohort: 'alpha' } }), workerFacts('b', { status: 'STALE' })];
  const values: JsonObject[] = [{ cohort: canary }, { cohort: { nested: canary } }, {}];
  for (const routingInput of values) {
    const traced = decideTraced(plan, prepareFleet(workers), dispatchRequest({ routingInput }));
    const { frames, rows } = packDecisions([traced]);
    expect(JSON.stringify([frames, rows])).not.toContain(canary);
    expect(JSON.stringify(blind(traced.decision, plan.blinding))).not.toContain(canary);
  }
});

test('the same decisions make the same bytes, whatever was decided before', () => {
  fc.assert(
    fc.property(
      rulesArbitrary({ routing: true }),
      fleetArbitrary(20),
      requestArbitrary(),
      jsonObjectArbitrary,
      (rules, workers, request, input) => {
        const plan = compilePlan(rules);
        const bytes = (warm: boolean): string => {
          const fleet = prepareFleet(workers);
          if (warm) decide(plan, fleet, { ...request, input });
          return JSON.stringify(packDecisions([decideTraced(plan, fleet, request)]).frames);
        };
        expect(bytes(true)).toBe(bytes(false));
      },
    ),
  );
});
