import { builder } from './builder.ts';

export const KeyValue = builder.objectRef<{ key: string; value: string }>('KeyValue').implement({
  fields: (t) => ({ key: t.exposeString('key'), value: t.exposeString('value') }),
});

export const KeyValueInput = builder.inputType('KeyValueInput', {
  fields: (t) => ({ key: t.string({ required: true }), value: t.string({ required: true }) }),
});

/** A string map as the API lists it, by key in code-point order. */
export function keyValues(map: Iterable<readonly [string, string]>): { key: string; value: string }[] {
  return [...map].map(([key, value]) => ({ key, value })).sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
