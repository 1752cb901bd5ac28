import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PendingEntry, PendingWork, standsBefore } from './pending.ts';

function entry(id: number, more: Partial<PendingEntry> = {}): PendingEntry {
  return {
    id: id.toString(16).padStart(32, '0'),
    priority: 0,
    generation: 0,
    revision: 1,
    versionId: 1,
    attempt: 0,
    queuedAt: 0,
    notBefore: null,
    targetRoles: [],
    requiredWorker: null,
    preferredWorker: null,
    skipWorker: null,
    input: {},
    routingInput: null,
    parkedReason: null,
    shapeKey: 'a',
    ...more,
  };
}

function drain(pending: PendingWork, now = 0): string[] {
  const ids: string[] = [];
  for (let next = pending.take(now); next !== null; next = pending.take(now)) ids.push(next.entry.id);
  return ids;
}

const NO_MATCH = { reason: 'nobody matches', saturated: false, since: 0 };

describe('PendingWork', () => {
  it('hands out by priority, then age, across shapes', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ id: fc.nat(500), priority: fc.integer({ min: -2, max: 2 }), shape: fc.nat(4) }), {
          selector: (item) => item.id,
        }),
        (items) => {
          const pending = new PendingWork();
          const entries = items.map((item) => entry(item.id, { priority: item.priority, shapeKey: `s${item.shape}` }));
          for (const one of entries) pending.add(one, 0);
          const expected = entries.toSorted((a, b) => (standsBefore(a, b) ? -1 : 1)).map((one) => one.id);
          expect(drain(pending)).toEqual(expected);
          expect(pending.size).toBe(0);
          expect(pending.shapeCount).toBe(0);
        },
      ),
    );
  });

  it('never lets a shape that nobody can take hold up what stands behind it (F1)', () => {
    const pending = new PendingWork();
    for (let i = 0; i < 200; i += 1) pending.add(entry(i, { shapeKey: 'unmatchable' }), 0);
    pending.add(entry(1_000, { shapeKey: 'matchable' }), 0);
    const first = pending.take(0);
    expect(first?.entry.shapeKey).toBe('unmatchable');
    if (first !== null) pending.setAside(first.entry, NO_MATCH);
    expect(pending.take(0)?.entry.shapeKey).toBe('matchable');
    expect(pending.take(0)).toBeNull();
    expect(pending.size).toBe(200);
  });

  it('costs nothing while set aside, and comes back whole when a change may help', () => {
    const pending = new PendingWork();
    for (let i = 0; i < 3; i += 1) pending.add(entry(i, { targetRoles: ['gpu'] }), 0);
    const taken = pending.take(0);
    if (taken !== null) pending.setAside(taken.entry, NO_MATCH);
    pending.add(entry(9, { targetRoles: ['gpu'] }), 0);
    expect(pending.readyCount).toBe(0);
    expect(pending.reconsider((shape) => shape.targetRoles.includes('cpu'))).toBe(0);
    expect(pending.reconsider((shape) => shape.targetRoles.includes('gpu'))).toBe(1);
    expect(drain(pending)).toHaveLength(4);
  });

  it('says once per change of reason whose row must be marked', () => {
    const pending = new PendingWork();
    pending.add(entry(1, { parkedReason: 'nobody matches' }), 0);
    pending.add(entry(2), 0);
    const unmarked = () =>
      [...pending.unmarkedShapes()].flatMap((shape) => [...shape.toMark].map((one) => Number.parseInt(one.id, 16)));
    const first = pending.take(0);
    if (first !== null) pending.setAside(first.entry, NO_MATCH);
    expect(unmarked()).toEqual([2]);
    const second = pending.get(entry(2).id);
    if (second !== undefined) pending.marked(second, NO_MATCH.reason);
    expect(unmarked()).toEqual([]);
    pending.add(entry(3), 0);
    expect(unmarked()).toEqual([3]);
    pending.reconsider(() => true);
    expect(unmarked()).toEqual([]);
    const again = pending.take(0);
    if (again !== null) pending.setAside(again.entry, { reason: 'no capacity', saturated: true, since: 0 });
    expect(unmarked()).toEqual([1, 2, 3]);
  });

  it('holds back-offs without holding up the shape', () => {
    const pending = new PendingWork();
    pending.add(entry(1, { notBefore: 100 }), 0);
    pending.add(entry(2), 0);
    expect(drain(pending, 50)).toEqual([entry(2).id]);
    expect(pending.nextDue()).toBe(100);
    expect(drain(pending, 100)).toEqual([entry(1).id]);
    expect(pending.nextDue()).toBeNull();
  });

  it('knows an execution once, by its newest generation (B6, B12)', () => {
    const pending = new PendingWork();
    for (let i = 0; i < 3; i += 1) pending.add(entry(1), 0);
    expect(pending.size).toBe(1);
    pending.add(entry(1, { generation: 2, revision: 5, shapeKey: 'b' }), 0);
    pending.add(entry(1, { generation: 1, revision: 9 }), 0);
    expect(pending.size).toBe(1);
    expect(pending.take(0)?.entry.generation).toBe(2);
    expect(pending.take(0)).toBeNull();
  });

  it('bounds what it keeps of one shape, and knows where to read on', () => {
    const pending = new PendingWork({ maxPerShape: 4 });
    for (let i = 9; i >= 0; i -= 1) pending.add(entry(i), 0);
    expect(pending.size).toBe(4);
    expect(pending.needingRefill()).toHaveLength(0);
    expect(drain(pending).map((id) => Number.parseInt(id, 16))).toEqual([0, 1, 2, 3]);
    const [shape] = pending.needingRefill();
    expect(shape?.overflow).toEqual({ priority: 0, id: entry(4).id });
    for (let i = 4; i < 10; i += 1) pending.add(entry(i), 0);
    if (shape !== undefined) pending.refilled(shape, { priority: 0, id: entry(8).id });
    expect(drain(pending).map((id) => Number.parseInt(id, 16))).toEqual([4, 5, 6, 7]);
  });

  it('lets go of what waits aside before it refuses something new', () => {
    const pending = new PendingWork({ maxIds: 10 });
    for (let i = 0; i < 10; i += 1) pending.add(entry(i, { shapeKey: `s${i}` }), 0);
    for (let next = pending.take(0); next !== null; next = pending.take(0)) pending.setAside(next.entry, NO_MATCH);
    pending.add(entry(50, { shapeKey: 'new' }), 0);
    expect(pending.size).toBe(10);
    expect(pending.take(0)?.entry.shapeKey).toBe('new');
  });

  it('stays consistent under any sequence of operations', () => {
    const operation = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), id: fc.nat(30), shape: fc.nat(3), generation: fc.nat(3) }),
      fc.record({ kind: fc.constant('remove' as const), id: fc.nat(30) }),
      fc.record({ kind: fc.constant('aside' as const) }),
      fc.record({ kind: fc.constant('reconsider' as const), shape: fc.nat(3) }),
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 80 }), (operations) => {
        const pending = new PendingWork();
        const model = new Map<string, number>();
        for (const step of operations) {
          if (step.kind === 'add') {
            const one = entry(step.id, {
              generation: step.generation,
              revision: step.generation,
              shapeKey: `s${step.shape}`,
            });
            pending.add(one, 0);
            model.set(one.id, Math.max(step.generation, model.get(one.id) ?? -1));
          } else if (step.kind === 'remove') {
            pending.remove(entry(step.id).id);
            model.delete(entry(step.id).id);
          } else if (step.kind === 'aside') {
            const next = pending.take(0);
            if (next !== null) pending.setAside(next.entry, NO_MATCH);
          } else {
            pending.reconsider((shape) => shape.key === `s${step.shape}`);
          }
        }
        expect(pending.size).toBe(model.size);
        pending.reconsider(() => true);
        expect(new Set(drain(pending))).toEqual(new Set(model.keys()));
      }),
    );
  });
});
