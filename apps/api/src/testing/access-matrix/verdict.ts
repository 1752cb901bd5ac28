import { permitsSome } from '@muster/core';
import type { AccessRule } from '../../modules/viewer/access-rule.ts';

/** What comes of asking: refused, let in and shown nothing, or let in. */
export type Verdict = 'refused' | 'nothing' | 'let in';

/** Somebody who asks, by what decides about him. */
export interface Asker {
  readonly kind: 'nobody' | 'service' | 'worker' | 'execution';
  readonly permissions: readonly string[];
}

/** What a rule says of somebody who asks for what is his. */
export function verdictOf(rule: AccessRule, { kind, permissions }: Asker): Verdict {
  const holds = (forms: AccessRule['permission']): boolean =>
    [forms ?? []].flat().every((form) => permitsSome(permissions, form));
  if (rule.anybody) return 'let in';
  if (kind === 'nobody') return 'refused';
  if (rule.signedIn && kind !== 'service') return 'refused';
  if (rule.serves && kind !== 'worker' && !permitsSome(permissions, rule.serves)) return 'refused';
  if (rule.worker && kind !== 'worker') return 'refused';
  if (!holds(rule.permission) || !holds(rule.registers)) return 'refused';
  const blinded = rule.blind === true && kind === 'execution';
  return holds(rule.reads) && !blinded ? 'let in' : 'nothing';
}

/** What an answer says of it. `hides`: NOT_FOUND, or nothing, is how it says that there is nothing to see. */
export function verdictFrom(answer: { codes: readonly string[]; data: unknown }, hides: boolean): Verdict {
  const { codes, data } = answer;
  if (codes.includes('FORBIDDEN') || codes.includes('UNAUTHENTICATED')) return 'refused';
  const hidden = codes.length === 0 ? isNothing(data) : codes.includes('NOT_FOUND');
  return hides && hidden ? 'nothing' : 'let in';
}

function isNothing(value: unknown): boolean {
  if (value === null || value === 0) return true;
  if (Array.isArray(value)) return value.every(isNothing);
  return typeof value === 'object' && Object.values(value ?? {}).every(isNothing);
}

/** A rule in a sentence for the docs. */
export function wordsOf(rule: AccessRule): string {
  const named = (forms: NonNullable<AccessRule['permission']>): string =>
    [forms]
      .flat()
      .map((form) => `\`${form}\``)
      .join(' and ');
  const parts = [
    ...(rule.anybody ? ['nothing'] : []),
    ...(rule.known ? ['any credential'] : []),
    ...(rule.signedIn ? ['a person or service account'] : []),
    ...(rule.permission === undefined ? [] : [named(rule.permission)]),
    ...(rule.registers === undefined ? [] : [named(rule.registers)]),
    ...(rule.reads === undefined ? [] : [`shows by ${named(rule.reads)}`]),
    ...(rule.blind ? ['nothing for the token of an execution'] : []),
    ...(rule.worker ? ["a worker's own credential"] : []),
    ...(rule.serves === undefined ? [] : [`the worker's own credential, or \`${rule.serves}\``]),
  ];
  return parts.join('; ');
}
