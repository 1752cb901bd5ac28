import { MusterError, permitsSome } from '@muster/core';
import type { Viewer } from './viewer.ts';

/** What a form names in braces stands for any name: `worker:{name}:manage`. */
type PermissionForm = string;

/**
 * Who is let into a field of the schema or a route. All that it says must hold. Which object somebody may read or change is decided by the
 * services; here is refused who may nothing of the kind, before any name is looked at.
 */
export interface AccessRule {
  /** Nobody needs to have said who he is. */
  readonly anybody?: true | undefined;
  /** Any credential: also a worker's, or an execution's. */
  readonly known?: true | undefined;
  /** A person or a service account. */
  readonly signedIn?: true | undefined;
  /** Takes all of these; without them it is FORBIDDEN. */
  readonly permission?: PermissionForm | readonly PermissionForm[] | undefined;
  /** Takes these for what is shown: without them, what there is looks as if it were not there. */
  readonly reads?: PermissionForm | readonly PermissionForm[] | undefined;
  /** Shows nothing to the token of an execution, whatever it may read (ruling 20). */
  readonly blind?: true | undefined;
  /** A worker's credential, for the worker of this name alone; or the permission to speak in its place. */
  readonly serves?: 'worker:{name}:serve' | undefined;
  /** Takes this; of workers the service asks for it, and tells those without it whether it is registered in the same words. */
  readonly registers?: 'workflow:{namespace}:{name}:register' | undefined;
  /** A worker's credential, about itself. */
  readonly worker?: true | undefined;
}

const WORKER = "This takes a worker's own credential.";

type Check<K extends keyof AccessRule> = (wanted: NonNullable<AccessRule[K]>, viewer: Viewer | null) => void;

/** Each part of a rule by itself. Errors: UNAUTHENTICATED for nobody; FORBIDDEN with `details.permission` where one is missing. */
export const ACCESS_CHECKS: { readonly [K in keyof Required<AccessRule>]: Check<K> } = {
  anybody: () => undefined,
  known: (_wanted, viewer) => void someone(viewer),
  signedIn: (_wanted, viewer) => {
    const { kind } = someone(viewer);
    if (kind === 'person' || kind === 'service') return;
    throw new MusterError('FORBIDDEN', 'This is for people and service accounts.');
  },
  permission: (wanted, viewer) => {
    const { permissions } = someone(viewer);
    for (const form of formsOf(wanted)) {
      if (permitsSome(permissions, form)) continue;
      throw new MusterError('FORBIDDEN', `This takes the permission ${form}.`, { details: { permission: form } });
    }
  },
  reads: (_wanted, viewer) => void someone(viewer),
  blind: (_wanted, viewer) => void someone(viewer),
  serves: (form, viewer) => {
    const { worker, permissions } = someone(viewer);
    if (worker !== null || permitsSome(permissions, form)) return;
    throw new MusterError('FORBIDDEN', WORKER, { details: { permission: form } });
  },
  registers: (form, viewer) => {
    if (someone(viewer).worker === null) ACCESS_CHECKS.permission(form, viewer);
  },
  worker: (_wanted, viewer) => {
    if (someone(viewer).worker === null) throw new MusterError('FORBIDDEN', WORKER);
  },
};

/** Lets the viewer in, or not. Errors: as `ACCESS_CHECKS`. */
export function requireAccess(rule: AccessRule, viewer: Viewer | null): void {
  for (const key of Object.keys(ACCESS_CHECKS) as (keyof AccessRule)[]) {
    const wanted = rule[key];
    if (wanted !== undefined) (ACCESS_CHECKS[key] as Check<keyof AccessRule>)(wanted, viewer);
  }
}

function formsOf(forms: PermissionForm | readonly PermissionForm[]): readonly PermissionForm[] {
  return typeof forms === 'string' ? [forms] : forms;
}

function someone(viewer: Viewer | null): Viewer {
  if (viewer === null) throw new MusterError('UNAUTHENTICATED', 'Send Authorization: Bearer with a token, or log in.');
  return viewer;
}
