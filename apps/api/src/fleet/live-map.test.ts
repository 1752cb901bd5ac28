import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LiveMap } from './live-map.ts';

const quiet = () => undefined;

describe('LiveMap', () => {
  it('counts each execution once, whatever is repeated', () => {
    const map = new LiveMap(quiet);
    map.set('a', 1, 1);
    map.set('a', 1, 1);
    map.set('b', 1, 1);
    expect(map.load(1)).toBe(2);
    map.clear('a', 1);
    map.clear('a', 1);
    expect(map.load(1)).toBe(1);
  });

  it('moves an execution to the worker of the newer generation and ignores older news', () => {
    const map = new LiveMap(quiet);
    map.set('a', 1, 1);
    map.set('a', 2, 3);
    map.set('a', 1, 1);
    map.clear('a', 1);
    expect([map.load(1), map.load(2)]).toEqual([0, 1]);
    expect(map.has('a', 3, 2)).toBe(true);
    expect(map.has('a', 1, 1)).toBe(false);
  });

  it('plays on top of the rows what arrived while they were read', () => {
    const map = new LiveMap(quiet);
    map.set('ended', 1, 1);
    map.record();
    map.set('new', 1, 1);
    map.clear('ended', 1);
    map.replace([
      { id: 'ended', workerId: 1, generation: 1 },
      { id: 'old', workerId: 2, generation: 4 },
    ]);
    expect([...map.executionsOf(1)]).toEqual(['new']);
    expect([...map.executionsOf(2)]).toEqual(['old']);
  });

  it('tells every change of a load, and the loads add up to the executions', () => {
    const message = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      workerId: fc.option(fc.integer({ min: 1, max: 3 })),
      generation: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(message), (messages) => {
        const told = new Map<number, number>();
        const map = new LiveMap((workerId, load) => told.set(workerId, load));
        for (const { id, workerId, generation } of messages) {
          if (workerId === null) map.clear(id, generation);
          else map.set(id, workerId, generation);
        }
        const loads = [1, 2, 3].map((workerId) => map.load(workerId));
        expect(loads.map((load, i) => told.get(i + 1) ?? load)).toEqual(loads);
        expect(loads.reduce((sum, load) => sum + load, 0)).toBe(map.size);
      }),
    );
  });
});
