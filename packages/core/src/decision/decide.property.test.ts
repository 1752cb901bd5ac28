import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  affinityArbitrary,
  fleetArbitrary,
  jsonObjectArbitrary,
  policyArbitrary,
  requestArbitrary,
  rulesArbitrary,
} from '../testing/dispatch-arbitraries.ts';
import { workerFacts } from '../testing/worker-facts.ts';
import { blind } from './blind.ts';
import { decide, decideOnce } from './decide.ts';
import type { Decision } from './decision.ts';
import { explain } from './explain.ts';
import { prepareFleet } from './fleet.ts';
import { compilePlan } from './plan.ts';
import { KEPT_MAX } from './select.ts';

const open = rulesArbitrary({ routing: false, broken: true });
const any = rulesArbitrary({ routing: true, broken: true });

test('the order of the workers does not matter', () => {
  const shuffled = fleetArbitrary(70).chain((fleet) =>
    fc.tuple(fc.constant(fleet), fc.shuffledSubarray(fleet, { minLength: fleet.length, maxLength: fleet.length })),
  );
  fc.assert(
    fc.property(any, shuffled, requestArbitrary(), (rules, [fleet, other], request) => {
      expect(decideOnce(rules, other, request)).toEqual(decideOnce(rules, fleet, request));
    }),
  );
});

test('scaling all weights does not change the ranking', () => {
  const policies = policyArbitrary({ routing: false });
  fc.assert(
    fc.property(
      policies,
      fleetArbitrary(20),
      requestArbitrary(),
      fc.constantFrom(-8, -1, 1, 20),
      (policy, fleet, request, power) => {
        // By powers of two, which doubles multiply exactly.
        const scaled = JSON.parse(JSON.stringify(policy), (key, value: unknown) =>
          key === 'weight' && typeof value === 'number' ? value * 2 ** power : value,
        ) as unknown;
        const rules = { workflowRef: null, affinity: null, requests: null, runner: null };
        const one = decideOnce({ ...rules, policy }, fleet, request);
        const two = decideOnce({ ...rules, policy: scaled }, fleet, request);
        expect(two.candidates.map((c) => [c.worker, c.rank])).toEqual(one.candidates.map((c) => [c.worker, c.rank]));
        expect(two.tieBreak).toBe(one.tieBreak);
      },
    ),
  );
});

test('a hard filter beats any hint, any stickiness and any score (D1)', () => {
  fc.assert(
    fc.property(any, fleetArbitrary(20), requestArbitrary(), (rules, fleet, request) => {
      const decision = decideOnce(rules, fleet, request);
      const winner = fleet.find((facts) => facts.name === decision.winner);
      if (winner === undefined) {
        expect(decision.winner).toBeNull();
        return;
      }
      expect(winner).toMatchObject({ status: 'HEALTHY', connected: true, availability: 'ACTIVE' });
      expect([null, winner.name]).toContain(request.requiredWorker);
      if (request.targetRoles.length > 0) expect(request.targetRoles).toContain(winner.role);
      if (winner.capacity !== null && winner.capacity > 0) expect(winner.load).toBeLessThan(winner.capacity);
      const without = decideOnce(rules, fleet, { ...request, preferredWorker: null });
      const before = without.candidates.filter((c) => c.rejected === null).map((c) => c.worker);
      expect(before).toContain(winner.name);
    }),
  );
});

test('removing a loser never changes the winner of a policy without least and most', () => {
  const policies = policyArbitrary({ routing: false }).filter(
    (policy) => !/"(?:least|most)"/.test(JSON.stringify(policy)),
  );
  fc.assert(
    fc.property(policies, fleetArbitrary(15), requestArbitrary(), fc.nat(14), (policy, fleet, request, at) => {
      const rules = { workflowRef: null, policy, affinity: null, requests: null, runner: null };
      const asked = { ...request, unclaimedBefore: [] };
      const { winner } = decideOnce(rules, fleet, asked);
      const loser = fleet[at];
      fc.pre(loser !== undefined && loser.name !== winner);
      expect(
        decideOnce(
          rules,
          fleet.filter((facts) => facts !== loser),
          asked,
        ).winner,
      ).toBe(winner);
    }),
  );
});

test('two executions that differ only in the routing value, with the same winner, give the same stored decision', () => {
  const rules = fc
    .record({
      policy: fc.option(policyArbitrary({ routing: true, broken: true })),
      affinity: fc.option(affinityArbitrary({ routing: true })),
      workflowRef: fc.constant(null),
      requests: fc.constant(null),
      runner: fc.constantFrom(null, 'inprocess'),
    })
    .filter((r) => compilePlan(r).blinding !== null);
  const routing = fc.option(jsonObjectArbitrary);
  let same = 0;
  fc.assert(
    fc.property(
      rules,
      fleetArbitrary(70),
      requestArbitrary(),
      routing,
      routing,
      (rule, fleet, request, first, second) => {
        const plan = compilePlan(rule);
        const [one, two] = [first, second].map((routingInput) =>
          blind(decideOnce(rule, fleet, { ...request, routingInput }), plan.blinding),
        ) as [Decision, Decision];
        fc.pre(one.winner === two.winner && one.outcome === two.outcome);
        if (JSON.stringify(first) !== JSON.stringify(second)) same++;
        expect(JSON.stringify(two)).toBe(JSON.stringify(one));
        expect(explain(two)).toEqual(explain(one));
      },
    ),
    { numRuns: 600 },
  );
  expect(same).toBeGreaterThan(50);
});

test('totals are the sum of the cells, ranks follow the totals, counts add up, at most 50 are kept', () => {
  fc.assert(
    fc.property(open, fleetArbitrary(120), requestArbitrary(), (rules, fleet, request) => {
      const decision = decideOnce(rules, fleet, request);
      if (decision.outcome !== 'FAILED') expect(decision.eligibleCount + decision.rejectedCount).toBe(fleet.length);
      expect(decision.rejections.reduce((sum, r) => sum + r.count, 0)).toBe(decision.rejectedCount);
      expect(decision.candidates.length).toBeLessThanOrEqual(KEPT_MAX);
      if (decision.winner !== null) expect(decision.candidates[0]?.worker).toBe(decision.winner);
      let last = Number.POSITIVE_INFINITY;
      for (const candidate of decision.candidates) {
        if (candidate.total === null) continue;
        expect(candidate.cells.reduce((sum, cell) => sum + (cell.weighted ?? 0), 0)).toBe(candidate.total);
        expect(Number.isFinite(candidate.total)).toBe(true);
        expect(candidate.total).toBeLessThanOrEqual(last);
        last = candidate.total;
        expect(candidate.cells).toHaveLength(decision.terms.length);
      }
    }),
  );
});

test('a fleet that was changed step by step decides like a new one', () => {
  const changes = fc.array(fc.tuple(fc.nat(20), fleetArbitrary(3), fc.nat(9)), { maxLength: 8 });
  fc.assert(
    fc.property(open, fleetArbitrary(20), changes, requestArbitrary(), (rules, start, steps, request) => {
      const plan = compilePlan(rules);
      const fleet = prepareFleet(start);
      const now = new Map(start.map((facts) => [facts.name, facts]));
      for (const [at, others, load] of steps) {
        decide(plan, fleet, request);
        for (const facts of others) {
          now.set(facts.name, facts);
          fleet.add(facts);
        }
        const name = [...now.keys()][at];
        const facts = name === undefined ? undefined : now.get(name);
        if (name === undefined || facts === undefined) continue;
        if (load < 3) {
          now.delete(name);
          expect(fleet.remove(name)).toBe(true);
        } else {
          now.set(name, { ...facts, load });
          fleet.setLoad(fleet.indexOf(name), load);
        }
      }
      expect(decide(plan, fleet, request)).toEqual(decideOnce(rules, now.values(), request));
    }),
  );
});

test('garbage as spec, metric or input never throws', () => {
  const junk = fc.anything({
    withNullPrototype: true,
    maxDepth: 4,
    key: fc.constantFrom(
      'terms',
      'kind',
      'selector',
      'if',
      'then',
      'op',
      'value',
      'weight',
      'prefix',
      'input',
      '$input',
      'routing_input',
      '__proto__',
      'cpu',
      'packages',
    ),
  });
  const json = fc.jsonValue({ maxDepth: 4 });
  const numbers = fc.dictionary(fc.constantFrom('temp', 'x'), fc.double(), { noNullPrototype: true });
  fc.assert(
    fc.property(fc.oneof(junk, json), junk, junk, json, numbers, (policy, affinity, requests, input, metrics) => {
      const rules = {
        workflowRef: null,
        policy: fc.stringify(policy).length > 2 ? { terms: [policy, policy] } : policy,
        affinity,
        requests,
        runner: null,
      };
      const fleet = [workerFacts('a', { metrics, metadata: metrics }), workerFacts('b')];
      const request = {
        input: input as never,
        routingInput: null,
        targetRoles: [],
        requiredWorker: null,
        preferredWorker: 'a',
        unclaimedBefore: [],
      };
      for (const one of [
        rules,
        { ...rules, policy, affinity: null, requests: null },
        { ...rules, affinity: [affinity] },
      ]) {
        const decision = decideOnce(one, fleet, request, { allReasons: true });
        explain(blind(decision, compilePlan(one).blinding));
      }
    }),
    { numRuns: 500 },
  );
});
