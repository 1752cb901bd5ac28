import { MusterError } from '@muster/core';

/** Kinds of global ids and what their raw part is: a UUID (32 hex digits), an integer key, or an execution's UUID and a sequence. */
const KINDS = {
  ex: 'uuid',
  de: 'uuid',
  ev: 'event',
  au: 'uuid',
  wk: 'int',
  wf: 'int',
  wv: 'int',
  dp: 'int',
  sd: 'int',
  jt: 'int',
  wc: 'int',
  pr: 'int',
  tk: 'int',
  se: 'uuid',
} as const;
export type IdKind = keyof typeof KINDS;
export type UuidKind = 'ex' | 'de' | 'au' | 'se';
export type IntKind = 'wk' | 'wf' | 'wv' | 'dp' | 'sd' | 'jt' | 'wc' | 'pr' | 'tk';

const SHAPES = {
  uuid: /^[0-9a-f]{32}$/,
  int: /^[1-9][0-9]{0,9}$/,
  event: /^[0-9a-f]{32}-[1-9][0-9]{0,9}$/,
} as const;

/** `ex_0193…`: the same string everywhere. UUIDs lose their dashes. */
export function encodeId(kind: IdKind, raw: string | number): string {
  return `${kind}_${KINDS[kind] === 'uuid' ? String(raw).replaceAll('-', '') : raw}`;
}

/** The parts of a global id, or null where it is none. */
export function decodeId(id: string): { kind: IdKind; raw: string } | null {
  const cut = id.indexOf('_');
  const kind = id.slice(0, cut);
  if (!Object.hasOwn(KINDS, kind)) return null;
  const raw = id.slice(cut + 1);
  const shape = KINDS[kind as IdKind];
  if (!SHAPES[shape].test(raw) || (shape === 'int' && Number(raw) > 2_147_483_647)) return null;
  return { kind: kind as IdKind, raw };
}

/** The raw UUID of an id of this kind, or null. */
export function decodeUuid(kind: UuidKind, id: string): string | null {
  const parts = decodeId(id);
  return parts?.kind === kind ? parts.raw : null;
}

/** The integer key of an id of this kind, or null. */
export function decodeInt(kind: IntKind, id: string): number | null {
  const parts = decodeId(id);
  return parts?.kind === kind ? Number(parts.raw) : null;
}

/** For mutations: what is not an id of this kind cannot exist. Errors: NOT_FOUND. */
export function requireUuid(kind: UuidKind, id: string, field: string): string {
  const raw = decodeUuid(kind, id);
  if (raw === null)
    throw new MusterError('NOT_FOUND', kind === 'ex' ? 'There is no such execution.' : 'There is no such decision.', {
      field,
    });
  return raw;
}
