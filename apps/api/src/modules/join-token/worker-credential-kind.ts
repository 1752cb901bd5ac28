import { BUILT_IN_ROLES } from '@muster/core';
import type { Log } from '../../log.ts';
import type { ResolvedCredential, TokenKind } from '../access/token-kind.ts';
import type { Viewer } from '../viewer/viewer.ts';
import { registerPermission } from './join-token-input.ts';
import { credentialStatus, type WorkerCredentialRow } from './join-token-row.ts';
import type { WorkerCredentialStore } from './worker-credential-store.ts';

/** What a worker's credential begins with. */
export const WORKER_CREDENTIAL_PREFIX = 'msw_';

export interface WorkerCredentialKindOptions {
  readonly store: Pick<WorkerCredentialStore, 'bySecret' | 'used'>;
  /** ms by the database's clock. */
  readonly now: () => number;
  readonly log: Log;
}

/** Tells who has a worker's credential: that worker, and nobody else. */
export class WorkerCredentialKind implements TokenKind {
  readonly prefix = WORKER_CREDENTIAL_PREFIX;
  readonly cached = true;
  readonly #o: WorkerCredentialKindOptions;

  constructor(options: WorkerCredentialKindOptions) {
    this.#o = options;
  }

  async resolve(token: string): Promise<ResolvedCredential | null> {
    const { store, now, log } = this.#o;
    const row = await store.bySecret(token);
    if (row === null || credentialStatus(row, now()) !== 'ACTIVE') return null;
    store.used(row.id).catch((error: unknown) => log.warn({ err: error }, 'the use of a credential was not noted'));
    return { viewer: viewerOf(row), expiresAt: row.expiresAt.getTime(), principalId: null };
  }
}

/** Its name is one that no principal can have. */
function viewerOf({ id, worker, role, labels, services, registers }: WorkerCredentialRow): Viewer {
  return {
    name: `worker:${worker}`,
    kind: 'worker',
    roles: ['worker'],
    permissions: [...BUILT_IN_ROLES.worker, ...registers.map(registerPermission)],
    credential: { kind: 'worker', id },
    worker: { name: worker, role, labels, services },
    execution: null,
    address: null,
  };
}
