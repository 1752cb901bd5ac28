import { MusterError } from '@muster/core';
import { may, type Viewer, type WorkerIdentity } from '../viewer/viewer.ts';

/** What a registration says of itself that somebody else may have decided. */
interface Claimed {
  readonly name: string;
  readonly role: string;
  readonly labels: ReadonlyMap<string, string>;
}

/** Whoever says nothing about a worker but what it says itself. */
const UNBOUND: Omit<WorkerIdentity, 'name'> = { role: null, labels: {}, services: [] };

/**
 * A worker's own credential speaks for that worker; for any other speaks who may `worker:{name}:serve`. Asked before the name is looked up,
 * so that names cannot be probed. Errors: FORBIDDEN.
 */
export function requireSpeaker(viewer: Viewer, name: string, field = 'worker'): void {
  if (viewer.worker === null ? may(viewer, `worker:${name}:serve`) : viewer.worker.name === name) return;
  throw new MusterError(
    'FORBIDDEN',
    "This takes that worker's own credential, or the permission to speak in its place.",
    {
      field,
      details: { permission: `worker:${name}:serve` },
    },
  );
}

/**
 * The labels and services that a worker registers with: where its credential says which labels, these are all of them; services come from
 * its credential alone (ruling 24). Errors: FORBIDDEN where it says another role or other labels.
 */
export function boundIdentity(
  viewer: Viewer,
  { role, labels }: Claimed,
): { labels: ReadonlyMap<string, string>; services: readonly string[] } {
  const bound = viewer.worker ?? UNBOUND;
  if (bound.role !== null && bound.role !== role)
    throw new MusterError('FORBIDDEN', 'The credential of this worker is for another role.', { field: 'role' });
  const given = new Map(Object.entries(bound.labels));
  if (given.size === 0) return { labels, services: bound.services };
  for (const [key, value] of labels) {
    if (given.get(key) === value) continue;
    throw new MusterError(
      'FORBIDDEN',
      `The labels of this worker are those of its join token, without ${key}=${value}.`,
      {
        field: 'labels',
      },
    );
  }
  return { labels: given, services: bound.services };
}
