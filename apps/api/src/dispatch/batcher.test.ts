import { describe, expect, it } from 'vitest';
import { Batcher } from './batcher.ts';

describe('Batcher', () => {
  it('joins what is called in one task, and what arrives while a batch is on its way', async () => {
    const batches: number[][] = [];
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const batcher = new Batcher<number, number>(async (items) => {
      batches.push([...items]);
      await gate;
      return items.map((item) => item * 10);
    }, 3);
    const first = [1, 2].map((item) => batcher.add(item));
    await Promise.resolve();
    await Promise.resolve();
    const later = [3, 4, 5, 6].map((item) => batcher.add(item));
    release();
    expect(await Promise.all([...first, ...later])).toEqual([10, 20, 30, 40, 50, 60]);
    expect(batches).toEqual([[1, 2], [3, 4, 5], [6]]);
  });

  it('tries a refused batch item by item, once, so that a bad item fails alone', async () => {
    const calls: number[][] = [];
    const batcher = new Batcher<number, number>(async (items) => {
      calls.push([...items]);
      if (items.includes(2)) throw new Error('refused');
      return items;
    });
    const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)));
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(calls).toEqual([[1, 2, 3], [1], [2], [3]]);
    await expect(batcher.add(2)).rejects.toThrow('refused');
    expect(calls).toHaveLength(5);
    await batcher.settled();
    expect(await batcher.add(7)).toBe(7);
  });
});
