import type { Decision } from '@muster/core';
import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHarness, eventually, type Harness } from '../../dispatch/testing/harness.ts';

let database: TestDatabase;
let h: Harness;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(async () => {
  await database.drop();
});
beforeEach(async () => {
  for (const table of ['execution', 'decision', 'decision_frame', 'worker'])
    await database.query(`DELETE FROM ${table}`);
  h = await createHarness(database);
  await h.dispatcher.start();
});
afterEach(async () => {
  await h.close();
  expect(h.failures).toEqual([]);
});

const region = {
  terms: [
    { kind: 'prefer', selector: 'label:region', op: '==', value: { $input: 'region' }, weight: 10 },
    { kind: 'least', selector: 'load', weight: 1 },
  ],
};
const eu = { affinity: [{ kind: 'match', selector: 'label:tier', op: '==', value: { $routing_input: 'tier' } }] };

async function fleetOfThree(): Promise<void> {
  await h.worker('w-a', { labels: { region: 'eu', tier: 'gold' } });
  await h.worker('w-b', { labels: { region: 'us', tier: 'gold' } });
  await h.worker('w-c', { labels: { region: 'eu' }, availability: 'CORDONED' });
}

async function scheduled(id: string): Promise<void> {
  await eventually(async () => (await h.state(id)) === 'SCHEDULED');
}

describe('a stored decision', () => {
  it('is exactly what was decided, with every value, rejection and score', async () => {
    await fleetOfThree();
    const version = await h.version({ routing: region });
    const id = await h.submit({ ...version, input: { region: 'us', other: 'x' } });
    await scheduled(id);
    const stored = (await h.decisions.latestByExecutions([id])).get(id);
    expect(stored).toMatchObject({ executionId: id, generation: 1, attempt: 1, versionId: version.versionId });
    expect(stored?.decision).toMatchObject({
      outcome: 'ASSIGNED',
      winner: 'w-b',
      method: 'ROUTING',
      eligibleCount: 2,
      rejectedCount: 1,
      rejections: [{ reason: 'CORDONED', count: 1 }],
      blinded: false,
      margin: 10,
    });
    expect(stored?.decision.candidates.map((one) => [one.worker, one.rank, one.total, one.rejected])).toEqual([
      ['w-b', 1, 10.5, null],
      ['w-a', 2, 0.5, null],
      ['w-c', null, null, 'CORDONED'],
    ]);
    expect(stored?.decision.candidates[0]?.cells[0]).toMatchObject({ state: 'SCORED', value: 'us', weighted: 10 });
    expect(stored?.explanation[0]).toContain('w-b');
    expect(stored?.waitMs).toBeGreaterThanOrEqual(0);
    expect(stored?.durationUs).toBeGreaterThan(0);
  });

  it('of a version that reads routing input is stored blinded, and is the same whatever the value', async () => {
    await fleetOfThree();
    const version = await h.version(eu);
    const ids: string[] = [];
    for (const tier of ['gold', 'gold']) {
      const id = await h.submit({ ...version, routingInput: { tier } });
      await scheduled(id);
      ids.push(id);
    }
    const [first, second] = await Promise.all(
      ids.map(async (id) => (await h.decisions.latestByExecutions([id])).get(id)?.decision),
    );
    expect(first).toMatchObject({ blinded: true, margin: null, tieBreak: 'NONE' });
    const shown = (decision: Decision | undefined): unknown[] =>
      (decision?.candidates ?? []).map(({ worker, rejected }) => [worker, rejected]);
    expect(shown(first)).toEqual(shown(second));
    const { rows } = await database.query<{ data: Buffer }>('SELECT data FROM decision_frame');
    expect(rows.length).toBeGreaterThan(0);
  });

  it('agrees with what a preview said before', async () => {
    await fleetOfThree();
    const version = await h.version({ routing: region });
    const preview = await h.dispatcher.preview({
      rules: { workflowRef: version.workflowRef, policy: region, affinity: null, requests: null, runner: null },
      input: { region: 'eu' },
      routingInput: null,
      targetRoles: [],
      requiredWorker: null,
      preferredWorker: null,
    });
    const id = await h.submit({ ...version, input: { region: 'eu' } });
    await scheduled(id);
    const stored = (await h.decisions.latestByExecutions([id])).get(id)?.decision;
    expect(preview.winner).toBe('w-a');
    // A preview spells out every reason, a stored decision the one that counts.
    const counting = ({ candidates, ...rest }: Decision) => ({
      ...rest,
      candidates: candidates.map((one) => ({ ...one, rejections: one.rejections.slice(0, 1) })),
    });
    expect(stored).toEqual(counting(preview));
  });
});

describe('preview', () => {
  const rules = (more: object) => ({
    workflowRef: null,
    policy: null,
    affinity: null,
    requests: null,
    runner: null,
    ...more,
  });
  const asked = {
    input: { region: 'us' },
    routingInput: null,
    targetRoles: [],
    requiredWorker: null,
    preferredWorker: null,
  };

  it('reports every filter that rejects a worker, and takes other weights', async () => {
    await fleetOfThree();
    const parked = await h.dispatcher.preview({
      ...asked,
      rules: rules({}),
      targetRoles: ['gpu'],
      requiredWorker: 'w-a',
    });
    expect(parked.outcome).toBe('PARKED');
    expect(parked.candidates.find((one) => one.worker === 'w-c')?.rejections.map((one) => one.reason)).toEqual([
      'CORDONED',
      'NOT_BOUND_WORKER',
      'ROLE_MISMATCH',
    ]);
    expect((await h.dispatcher.preview({ ...asked, rules: rules({ policy: region }) })).candidates[0]?.total).toBe(
      10.5,
    );
    expect(
      (await h.dispatcher.preview({ ...asked, rules: rules({ policy: region }), weights: [2, null] })).candidates[0]
        ?.total,
    ).toBe(2.5);
  });

  it('shows the one who typed a routing value what it does, and nobody else', async () => {
    await fleetOfThree();
    const typed = await h.dispatcher.preview({ ...asked, rules: rules(eu), routingInput: { tier: 'gold' } });
    expect(typed).toMatchObject({ blinded: false, winner: 'w-a', eligibleCount: 2 });
    const id = await h.submit({ ...(await h.version(eu)), routingInput: { tier: 'silver' } });
    await eventually(async () => (await h.row(id)).parked === true);
    const why = (await h.dispatcher.whyWaiting([id])).get(id);
    expect(why).toMatchObject({ outcome: 'PARKED', blinded: true });
    expect(JSON.stringify(why)).not.toContain('silver');
  });

  it('scores the candidates of a stored decision with the values it stored', async () => {
    await fleetOfThree();
    const version = await h.version({ routing: region });
    const id = await h.submit({ ...version, input: { region: 'us' } });
    await scheduled(id);
    const decisionId = (await h.decisions.latestByExecutions([id])).get(id)?.id ?? '';
    h.fleet.remove('w-b');
    const then = await h.dispatcher.preview({ ...asked, rules: rules({ policy: region }), decisionId });
    expect(then).toMatchObject({ winner: 'w-b', eligibleCount: 2, rejectedCount: 1 });
    await expect(
      h.dispatcher.preview({ ...asked, rules: rules({}), decisionId: '0'.repeat(32) }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('lists of decisions', () => {
  it('page both ways, newest first, and every page together is all of them (H9)', async () => {
    await h.worker('w-a', { capacity: 1000 });
    const version = await h.version();
    const ids: string[] = [];
    for (let i = 0; i < 23; i += 1) ids.push(await h.submit(version));
    for (const id of ids) await scheduled(id);
    const all = (await h.decisions.list({}, { limit: 100 })).items.map((one) => one.id);
    expect(all).toEqual(all.toSorted().toReversed());
    expect(new Set((await h.decisions.byIds(all)).values()).size).toBe(23);
    const forward: string[] = [];
    let after: string | undefined;
    for (let more = true; more; ) {
      const page = await h.decisions.list({}, { limit: 7, after });
      forward.push(...page.items.map((one) => one.id));
      more = page.more;
      after = page.items.at(-1)?.id;
    }
    expect(forward).toEqual(all);
    const backward: string[] = [];
    let before: string | undefined;
    for (let more = true; more; ) {
      const page = await h.decisions.list({}, { limit: 7, before, backward: true });
      backward.unshift(...page.items.map((one) => one.id));
      more = page.more;
      before = page.items[0]?.id;
    }
    expect(backward).toEqual(all);
    expect(await h.decisions.count({})).toEqual({ count: 23, exact: true });
  });

  it('filter by what was decided and about whom', async () => {
    await fleetOfThree();
    const version = await h.version({ routing: region });
    const other = await h.version(eu);
    const us = await h.submit({ ...version, input: { region: 'us' } });
    const gold = await h.submit({ ...other, routingInput: { tier: 'gold' } });
    const parked = await h.submit({ ...version, targetRoles: ['gpu'] });
    await scheduled(us);
    await scheduled(gold);
    await eventually(async () => (await h.row(parked)).parked === true);
    const found = async (filter: Parameters<typeof h.decisions.list>[0]): Promise<string[]> =>
      (await h.decisions.list(filter, { limit: 10 })).items.map((one) => one.executionId).toSorted();
    const idOf = (name: string): number => h.fleet.get(name)?.id ?? 0;
    const everything = [us, gold, parked].toSorted();
    expect(await found({})).toEqual(everything);
    expect(await found({ outcomes: ['PARKED'] })).toEqual([parked]);
    expect(await found({ winner: idOf('w-b') })).toEqual([us]);
    expect(await found({ candidate: idOf('w-c') })).toEqual(everything);
    expect(await found({ worker: 999_999 })).toEqual([]);
    expect(await found({ blinded: true })).toEqual([gold]);
    expect(await found({ versionIds: [other.versionId] })).toEqual([gold]);
    expect(await found({ executionId: us })).toEqual([us]);
    expect(await found({ degraded: true })).toEqual([]);
    expect(await found({ after: new Date(Date.now() + 60_000) })).toEqual([]);
    expect(await found({ before: new Date(Date.now() + 60_000) })).toEqual(everything);
    expect(await h.decisions.count({ outcomes: ['ASSIGNED'] })).toEqual({ count: 2, exact: true });
    expect(
      (await h.decisions.byGenerations([{ executionId: us, generation: 1 }])).get(`${us}:1`)?.decision.winner,
    ).toBe('w-b');
  });
});
