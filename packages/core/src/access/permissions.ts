import type { Issue } from '../lib/errors.ts';
import { quote } from '../worker/names.ts';

const MAX_PERMISSION = 512;

/** What each kind of permission is made of, after its first segment: `*` stands for a name, the rest are the words that may stand there. */
const SHAPES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  workflow: [['*'], ['*'], ['read', 'run', 'register']],
  deployment: [['*'], ['read', 'run', 'write']],
  execution: [['*'], ['read', 'cancel']],
  worker: [['*'], ['read', 'target', 'manage', 'serve']],
  schedule: [['*'], ['read', 'write']],
  admin: [
    ['principals', 'roles', 'tokens', 'audit'],
    ['read', 'write'],
  ],
};

const SEGMENT = /^[^\s:*\p{C}]+$/u;

/**
 * Whether one of `granted` covers `wanted`, e.g. `worker:*:target` covers `worker:w-7:target`. `*` matches one segment, as the last one
 * all that follow (rulings, Permissions). A `*` in `wanted` is covered by a `*` alone: "may it for every name".
 */
export function permits(granted: readonly string[], wanted: string): boolean {
  const segments = wanted.split(':');
  return granted.some((grant) => covers(grant.split(':'), segments));
}

function covers(grant: readonly string[], wanted: readonly string[]): boolean {
  if (grant.length > wanted.length) return false;
  if (grant.length < wanted.length && grant.at(-1) !== '*') return false;
  return grant.every((segment, index) => segment === '*' || segment === wanted[index]);
}

/**
 * Whether one of `granted` may cover some permission of this form, e.g. `worker:w-7:target` one of `worker:{name}:target`. Who holds none is
 * refused before any name is looked at.
 */
export function permitsSome(granted: readonly string[], form: string): boolean {
  const segments = form.split(':');
  return granted.some((grant) => meets(grant.split(':'), segments));
}

function meets(grant: readonly string[], form: readonly string[]): boolean {
  if (grant.length > form.length) return false;
  if (grant.length < form.length && grant.at(-1) !== '*') return false;
  return grant.every((segment, index) => segment === '*' || isOpen(form[index]) || segment === form[index]);
}

function isOpen(segment: string | undefined): boolean {
  return segment?.startsWith('{') ?? false;
}

/** The problems of a permission as a role may hold it: `*`, or the shape of its kind with `*` for any segment, or for the rest of them. */
export function checkPermission(text: string, path: string): Issue[] {
  const problem = (message: string): Issue[] => [{ path, code: 'PERMISSION_SHAPE', message }];
  if (text.length > MAX_PERMISSION) return problem(`a permission has at most ${MAX_PERMISSION} characters`);
  if (text === '*') return [];
  const [kind = '', ...rest] = text.split(':');
  const shape = Object.hasOwn(SHAPES, kind) ? SHAPES[kind] : undefined;
  if (!shape) return problem(`a permission begins with ${Object.keys(SHAPES).join(', ')}, not ${quote(kind)}`);
  const usual = `${kind}:${shape.map((words) => (words[0] === '*' ? '{name}' : words.join('|'))).join(':')}`;
  const whole = rest.length === shape.length || (rest.length < shape.length && rest.at(-1) === '*');
  const fits = rest.every((segment, index) => {
    const words = shape[index];
    return segment === '*' || (words?.[0] === '*' ? SEGMENT.test(segment) : words?.includes(segment));
  });
  return whole && fits
    ? []
    : problem(`${quote(text)} is not of the form ${usual}, with * for any part or for the rest`);
}
