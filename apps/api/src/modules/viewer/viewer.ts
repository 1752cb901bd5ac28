import { BUILT_IN_ROLES, MusterError, permits } from '@muster/core';

/** Who asks. Every service method takes one; what it may do is checked there. */
export interface Viewer {
  /** The principal's name; what audit entries and executions name. */
  readonly name: string;
  readonly kind: 'person' | 'service' | 'worker' | 'execution';
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  /** By what it is known; when that ends, so does everything that it has open. */
  readonly credential: CredentialRef;
  /** Whose registration, heartbeats, claims and events its credential is good for; null: no worker's. */
  readonly worker: WorkerIdentity | null;
  /** The execution whose handler asks, and the worker that runs it; null: no execution token. */
  readonly execution: { readonly id: string; readonly worker: string } | null;
  /** Where the request came from, for the audit; null: from within the server. */
  readonly address: string | null;
}

export type CredentialRef =
  /** The token of the installation, from its data directory or its configuration. */
  | { readonly kind: 'installation' }
  | { readonly kind: 'token' | 'worker'; readonly id: number }
  | { readonly kind: 'session' | 'execution'; readonly id: string };

export interface WorkerIdentity {
  readonly name: string;
  /** The one role it may announce itself as; null: any. */
  readonly role: string | null;
  /** Where there are any, they are all its labels: it cannot say others. */
  readonly labels: Readonly<Record<string, string>>;
  /** What it may serve; they become its labels `flux.service.<name>` (ruling 24). */
  readonly services: readonly string[];
}

/** Whoever holds the token of the installation. */
export const administrator: Viewer = {
  name: 'admin',
  kind: 'service',
  roles: ['admin'],
  permissions: BUILT_IN_ROLES.admin,
  credential: { kind: 'installation' },
  worker: null,
  execution: null,
  address: null,
};

/** The server itself, acting for somebody whose permission was asked for earlier, e.g. a schedule that replaces its last run. */
export function onBehalfOf(name: string): Viewer {
  return { ...administrator, name };
}

/** Whether its permissions cover this one, e.g. `worker:w-7:manage`. */
export function may(viewer: Viewer, permission: string): boolean {
  return permits(viewer.permissions, permission);
}

/** Errors: FORBIDDEN, naming the permission that is missing; `details.permission` is it. */
export function requirePermission(viewer: Viewer, permission: string, field?: string): void {
  if (may(viewer, permission)) return;
  throw new MusterError('FORBIDDEN', `This takes the permission ${permission}.`, {
    details: { permission },
    ...(field === undefined ? {} : { field }),
  });
}
