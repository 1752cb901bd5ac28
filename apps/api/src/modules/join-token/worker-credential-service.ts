import { MusterError } from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import type { Page } from '../../graphql/connection.ts';
import { decodeInt } from '../../graphql/ids.ts';
import type { Count } from '../../graphql/page-rows.ts';
import { newSecret } from '../access/secrets.ts';
import { authorOf } from '../audit/audit-log.ts';
import { may, requirePermission, type Viewer } from '../viewer/viewer.ts';
import { checkJoinNames } from './join-token-input.ts';
import type { WorkerCredentialRow } from './join-token-row.ts';
import { WORKER_CREDENTIAL_PREFIX } from './worker-credential-kind.ts';
import type { JoinRequest, WorkerCredentialFilter, WorkerCredentialStore } from './worker-credential-store.ts';

/** A credential as it is given out, once. */
export interface GivenCredential {
  readonly credential: string;
  readonly row: WorkerCredentialRow;
  /** Seconds after which it should be renewed: half its life. */
  readonly renewAfterSeconds: number;
}

export interface WorkerCredentialServiceOptions {
  readonly store: WorkerCredentialStore;
  readonly bus: Bus;
  readonly lifetimeMs: number;
  /** Takes a worker off duty, whatever it says, and gives away what it holds. */
  readonly dismiss: (worker: string, why: string) => Promise<void>;
}

/** How workers come in, stay in and are turned out. */
export class WorkerCredentialService {
  readonly #o: WorkerCredentialServiceOptions;

  constructor(options: WorkerCredentialServiceOptions) {
    this.#o = options;
  }

  /** Exchanges a join token for the credential of one worker. Errors: as `WorkerCredentialStore.join`. */
  async join(request: JoinRequest): Promise<GivenCredential> {
    checkJoinNames(request);
    const credential = newSecret(WORKER_CREDENTIAL_PREFIX);
    const { row, ended } = await this.#o.store.join(request, credential);
    this.#tell(ended);
    return this.#given(credential, row);
  }

  /** For the worker itself. Errors: FORBIDDEN for anybody else; as `WorkerCredentialStore.renew`. */
  async renew(viewer: Viewer, requestId: string): Promise<GivenCredential> {
    const { credential: known } = viewer;
    if (known.kind !== 'worker') throw new MusterError('FORBIDDEN', "This takes a worker's own credential.");
    const credential = newSecret(WORKER_CREDENTIAL_PREFIX);
    const { row, overlap } = await this.#o.store.renew(known.id, credential, authorOf(viewer, requestId));
    this.#tell(overlap);
    return this.#given(credential, row);
  }

  /**
   * Bans the worker: all its credentials end, its connections with them, and what it holds is given to others. It comes back with a join
   * token that was made later, under its name or, where none is bound to it, not at all. Errors: FORBIDDEN, NOT_FOUND.
   */
  async revoke(id: string, viewer: Viewer, requestId: string): Promise<WorkerCredentialRow> {
    requirePermission(viewer, 'admin:tokens:write');
    const raw = decodeInt('wc', id);
    const revoked = raw === null ? null : await this.#o.store.revoke(raw, authorOf(viewer, requestId));
    if (revoked === null) throw new MusterError('NOT_FOUND', 'There is no such credential.', { field: 'id' });
    this.#tell(revoked.ended);
    if (revoked.ended.length > 0) await this.#o.dismiss(revoked.row.worker, 'the credential of its worker was revoked');
    return revoked.row;
  }

  async page(
    page: Page,
    filter: WorkerCredentialFilter,
    viewer: Viewer,
  ): Promise<{ items: WorkerCredentialRow[]; more: boolean }> {
    requirePermission(viewer, 'admin:tokens:read');
    return this.#o.store.page(page, filter);
  }

  async count(filter: WorkerCredentialFilter): Promise<Count> {
    return this.#o.store.count(filter);
  }

  /** null: there is none, or it may not be read. */
  async byId(id: number, viewer: Viewer): Promise<WorkerCredentialRow | null> {
    return may(viewer, 'admin:tokens:read') ? this.#o.store.byId(id) : null;
  }

  #tell(ids: readonly number[]): void {
    for (const workerCredentialId of ids) this.#o.bus.publish('access', { workerCredentialId });
  }

  #given(credential: string, row: WorkerCredentialRow): GivenCredential {
    return { credential, row, renewAfterSeconds: Math.max(1, Math.floor(this.#o.lifetimeMs / 2_000)) };
  }
}
