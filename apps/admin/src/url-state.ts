/** One value of a view that lives in the address: how it is read, written, and what it is when absent. */
export interface Field<T> {
  initial: T;
  /** undefined where the text means nothing here. */
  parse(raw: string): T | undefined;
  // A method, so that a field of some type is a field of unknown type too.
  format(value: T): string;
}

export type Shape = Record<string, Field<unknown>>;
export type StateOf<S extends Shape> = { [K in keyof S]: S[K] extends Field<infer T> ? T : never };

export function text(initial = ''): Field<string> {
  return { initial, parse: (raw) => raw, format: (value) => value };
}

export function choice<const T extends string>(values: readonly T[], initial: T): Field<T> {
  return { initial, parse: (raw) => values.find((value) => value === raw), format: (value) => value };
}

/** Several of a set, comma separated. One unknown value makes the whole text unknown: half a filter would show the wrong rows. */
export function choices<const T extends string>(values: readonly T[]): Field<readonly T[]> {
  return {
    initial: [],
    parse: (raw) => {
      const parts = raw.split(',').filter((part) => part !== '');
      const known = parts.flatMap((part) => values.find((value) => value === part) ?? []);
      return known.length === parts.length ? known : undefined;
    },
    format: (value) => value.join(','),
  };
}

/** Several free texts, comma separated. */
export function texts(): Field<readonly string[]> {
  return {
    initial: [],
    parse: (raw) => raw.split(',').filter((part) => part !== ''),
    format: (value) => value.join(','),
  };
}

/** A sort column with a leading minus for descending, as in `-createdAt`. */
export interface Sort<T extends string> {
  by: T;
  descending: boolean;
}

export function sort<const T extends string>(columns: readonly T[], initial: Sort<T>): Field<Sort<T>> {
  return {
    initial,
    parse: (raw) => {
      const descending = raw.startsWith('-');
      const by = columns.find((column) => column === (descending ? raw.slice(1) : raw));
      return by === undefined ? undefined : { by, descending };
    },
    format: (value) => (value.descending ? '-' : '') + value.by,
  };
}

/** Reads a view's state; `ignored` names the parameters of this view whose value means nothing. */
export function parseState<S extends Shape>(
  shape: S,
  search: Readonly<Record<string, string | undefined>>,
): { state: StateOf<S>; ignored: string[] } {
  const ignored: string[] = [];
  const entries = Object.entries(shape).map(([name, field]) => {
    const raw = search[name];
    if (raw === undefined) return [name, field.initial] as const;
    const value = field.parse(raw);
    if (value === undefined) ignored.push(name);
    return [name, value ?? field.initial] as const;
  });
  // Object.fromEntries loses the keys of the shape, which are exactly these.
  return { state: Object.fromEntries(entries) as StateOf<S>, ignored };
}

/** The address of a state: what equals its initial value is left out. Parameters of other views are dropped. */
export function formatState<S extends Shape>(shape: S, state: StateOf<S>): Record<string, string> {
  const search: Record<string, string> = {};
  for (const [name, field] of Object.entries(shape)) {
    const value = field.format(state[name]);
    if (value !== field.format(field.initial)) search[name] = value;
  }
  return search;
}

/** `?a=b`, or nothing; the order of the entries is kept. */
export function queryString(search: Readonly<Record<string, string | undefined>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) if (value !== undefined && value !== '') params.set(name, value);
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}
