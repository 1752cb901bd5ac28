import { describe, expect, test } from 'vitest';
import { dispatchRequest, workerFacts } from '../testing/worker-facts.ts';
import { decideOnce } from './decide.ts';
import { explain } from './explain.ts';
import type { DispatchRequest, DispatchRules } from './request.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';

const gpu = { kind: 'prefer', selector: 'label:gpu', op: '==', value: 'a100', weight: 10 };
const least = { kind: 'least', selector: 'load', weight: 1 };

function say(rules: Partial<DispatchRules>, fleet: WorkerFacts[], request: Partial<DispatchRequest> = {}): string[] {
  const all = { workflowRef: null, policy: null, affinity: null, requests: null, runner: null, ...rules };
  return explain(decideOnce(all, fleet, dispatchRequest(request)));
}

describe('assigned', () => {
  test('verdict, funnel, what decided', () => {
    const fleet = [
      workerFacts('w-1', { labels: { gpu: 'a100' }, load: 1 }),
      workerFacts('w-5', { labels: { gpu: 'l4' } }),
      workerFacts('w-6', { status: 'OFFLINE' }),
      workerFacts('w-7', { role: 'api' }),
      workerFacts('w-8', { role: 'api' }),
    ];
    expect(say({ policy: { terms: [gpu, least] } }, fleet, { targetRoles: ['worker'] })).toEqual([
      'w-1 won with 10, ahead of w-5 by 9.',
      '5 considered, 2 eligible. 3 left out: role 2, offline 1.',
      'Decided the matter: prefer(label("gpu") == "a100") (+10).',
    ]);
  });

  test('ties by load and by name', () => {
    const policy = { terms: [gpu] };
    const byLoad = [
      workerFacts('w-9', { labels: { gpu: 'a100' } }),
      workerFacts('w-1', { labels: { gpu: 'a100' }, load: 2 }),
    ];
    expect(say({ policy }, byLoad)).toEqual([
      'w-9 won with 10, tied with w-1; the lower load decided.',
      '2 considered, 2 eligible.',
      'w-9 and w-1 tie on 10. w-9 has the lower load (0 against 2).',
    ]);
    const byName = [workerFacts('w-9', { labels: { gpu: 'a100' } }), workerFacts('w-13', { labels: { gpu: 'a100' } })];
    expect(say({ policy }, byName)[0]).toBe('w-13 won with 10, tied with w-9; the name decided.');
  });

  test('the only one, the least loaded, the preferred', () => {
    expect(say({ policy: { terms: [gpu] } }, [workerFacts('w', { labels: { gpu: 'a100' } })])[0]).toBe(
      'w is the only eligible worker, with 10.',
    );
    expect(say({}, [workerFacts('a', { load: 1 }), workerFacts('b', { load: 2 })])[0]).toBe(
      'a is the least loaded of 2 (load 1).',
    );
    expect(say({}, [workerFacts('a'), workerFacts('b')])[0]).toBe('a is the least loaded (load 0), before b by name.');
    expect(say({}, [workerFacts('a'), workerFacts('b', { load: 4 })], { preferredWorker: 'b' })[0]).toBe(
      'b was preferred by the caller and eligible.',
    );
  });

  test('a degraded policy and an idle term are named', () => {
    const broken = say({ policy: { terms: [{ ...gpu, selector: null }] } }, [
      workerFacts('a'),
      workerFacts('b', { load: 1 }),
    ]);
    expect(broken).toContain(
      'The policy could not be used: term 1 has no selector. The least loaded worker was taken instead.',
    );
    const idle = say({ policy: { terms: [gpu, least] } }, [workerFacts('a'), workerFacts('b', { load: 1 })]);
    expect(idle).toContain('prefer(label("gpu") == "a100") took no part: no eligible worker has label:gpu.');
  });
});

describe('parked and failed', () => {
  const affinity = [{ kind: 'match', selector: 'label:gpu', op: '==', value: 'a100' }];

  test('the constraint is named where all that it left out lack the same', () => {
    const fleet = [
      workerFacts('a', { labels: { gpu: 'l4' } }),
      workerFacts('b'),
      workerFacts('c', { status: 'STALE' }),
    ];
    expect(say({ affinity }, fleet)).toEqual([
      '0 of 3 workers eligible: 2 without gpu = a100, 1 stale.',
      '3 considered, none eligible. 3 left out: gpu = a100 2, stale 1.',
    ]);
  });

  test('many reasons end in other', () => {
    const states = ['OFFLINE', 'STALE', 'UNHEALTHY'] as const;
    const fleet = [
      ...states.map((status) => workerFacts(status, { status })),
      workerFacts('x', { connected: false }),
      workerFacts('y', { availability: 'CORDONED' }),
    ];
    expect(say({}, fleet)[1]).toBe(
      '5 considered, none eligible. 5 left out: offline 1, not connected 1, stale 1, other 2.',
    );
  });

  test('an empty fleet, a failure', () => {
    expect(say({}, [])).toEqual(['No worker is registered.']);
    const failing = [{ kind: 'match', selector: 'label:dc', op: '==', value: { $input: 'dc' } }];
    expect(say({ affinity: failing }, [])).toEqual(['Failed: input("dc") is absent, and label("dc") requires it.']);
  });
});
