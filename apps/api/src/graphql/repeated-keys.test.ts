import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayCarryRoutingInput, repeatsKey } from './repeated-keys.ts';

describe('repeatsKey', () => {
  it.each([
    ['{"a":1,"a":2}', true],
    ['{"a":{"b":1,"c":[{"d":1,"d":2}]}}', true],
    ['[{"a":1},{"a":1,"\\u0061":2}]', true],
    ['{"a\\\\":1,"a\\"":2,"a":{"a":"a"}}', false],
    ['{"x":"{\\"a\\":1,\\"a\\":2}"}', false],
    ['{"a":["a","a",{"a":1}],"b":{},"c":[]}', false],
    ['{"":1,"":2}', true],
    ['"a"', false],
  ])('%s: %s', (text, expected) => expect(repeatsKey(text)).toBe(expected));

  it('finds a repetition wherever it is put, and none where there is none', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.string(), (value, key) => {
        const text = JSON.stringify(value, null, 1);
        expect(repeatsKey(text)).toBe(false);
        const name = JSON.stringify(key);
        expect(repeatsKey(`[${text}, {${name}: ${text}, "${'x'.repeat(40)}": 1, ${name} : 1}]`)).toBe(true);
      }),
    );
  });
});

it('knows the name also where it is escaped', () => {
  expect(mayCarryRoutingInput('{"routing\\u0049nput":{}}')).toBe(true);
  expect(mayCarryRoutingInput('{"query":"query ($r: RoutingInput) { x }"}')).toBe(true);
  expect(mayCarryRoutingInput('{"input":"\\u00e4\\n"}')).toBe(false);
});
