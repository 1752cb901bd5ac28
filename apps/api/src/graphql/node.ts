import { builder } from './builder.ts';

const typeNames = new WeakMap<object, string>();

/** `node` and `nodes` say here which type they found; everywhere else the field's own type says it. */
export function markNode<T extends object>(value: T, typeName: string): T {
  typeNames.set(value, typeName);
  return value;
}

export const NodeRef = builder.interfaceRef<object>('Node').implement({
  resolveType: (value) => typeNames.get(value),
  fields: (t) => ({ id: t.id({ resolve: () => '' }) }),
});
