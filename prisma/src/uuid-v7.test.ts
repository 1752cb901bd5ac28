import { describe, expect, it } from 'vitest';
import { uuidV7Source } from './uuid-v7.ts';

const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('uuidV7Source', () => {
  it('makes version 7, variant 10, of the time it is given', () => {
    const uuid = uuidV7Source(() => 1_700_000_000_123.9);
    const id = uuid();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(timeOf(id)).toBe(1_700_000_000_123);
    expect(timeOf(uuid(5))).toBe(5);
  });

  it('ascends within a millisecond, beyond its counter, and while the clock steps back', () => {
    let now = 1_000_000;
    const uuid = uuidV7Source(() => now);
    const ids: string[] = [];
    for (let i = 0; i < 20_000; i += 1) {
      if (i === 10_000) now -= 500;
      ids.push(uuid());
    }
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('follows the clock again once it has caught up', () => {
    let now = 1_000_000;
    const uuid = uuidV7Source(() => now);
    uuid();
    now = 2_000_000;
    expect(timeOf(uuid())).toBe(2_000_000);
  });
});
