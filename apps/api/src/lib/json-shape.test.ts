import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonShape } from './json-shape.ts';

/** The same by building the value. */
function shapeOf(value: unknown): { depth: number; values: number } {
  if (value === null || typeof value !== 'object') return { depth: 0, values: 1 };
  const parts = Object.values(value).map(shapeOf);
  return {
    depth: 1 + Math.max(0, ...parts.map(({ depth }) => depth)),
    values: 1 + parts.reduce((sum, { values }) => sum + values, 0),
  };
}

it('knows the depth of any JSON, and no fewer values than it has', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, space) => {
      const counted = jsonShape(JSON.stringify(value, null, space));
      const built = shapeOf(value);
      expect(counted.depth).toBe(built.depth);
      expect(counted.values).toBeGreaterThanOrEqual(built.values);
      // A container and the comma before what follows it are counted both.
      expect(counted.values).toBeLessThanOrEqual(2 * built.values);
    }),
  );
});

it('is not led astray by brackets, commas and quotes inside strings', () => {
  expect(jsonShape(JSON.stringify({ 'a"[[{': '\\",,,[[[\\\\', b: ['"'] }))).toEqual({ depth: 2, values: 4 });
});

it('ends with texts that are no JSON', () => {
  expect(jsonShape('"never closed \\')).toEqual({ depth: 0, values: 1 });
  expect(jsonShape(']]]]]')).toEqual({ depth: 0, values: 1 });
  expect(jsonShape('[ '.repeat(100_000))).toEqual({ depth: 100_000, values: 100_001 });
});
