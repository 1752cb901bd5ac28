import { MusterError } from '@muster/core';
import type { Page } from '../../graphql/connection.ts';
import { decodeInt } from '../../graphql/ids.ts';
import type { Count } from '../../graphql/page-rows.ts';
import { newSecret } from '../access/secrets.ts';
import { authorOf } from '../audit/audit-log.ts';
import { may, requirePermission, type Viewer } from '../viewer/viewer.ts';
import { checkJoinToken, type JoinTokenInput, registerPermission } from './join-token-input.ts';
import type { JoinTokenRow } from './join-token-row.ts';
import type { JoinTokenFilter, JoinTokenStore } from './join-token-store.ts';

/** What a join token begins with. */
const JOIN_TOKEN_PREFIX = 'msj_';

/** Join tokens, as administrators make and end them. */
export class JoinTokenService {
  readonly #store: JoinTokenStore;

  constructor(store: JoinTokenStore) {
    this.#store = store;
  }

  /**
   * `secret` is shown now and never again. Whoever makes a worker could speak in its place, and grant it no more than he has: it takes
   * `worker:{name}:serve` (of any name where it is bound to none) and what `registers` allows. Errors: FORBIDDEN, BAD_INPUT.
   */
  async create(
    input: JoinTokenInput,
    viewer: Viewer,
    requestId: string,
  ): Promise<{ joinToken: JoinTokenRow; secret: string }> {
    requirePermission(viewer, 'admin:tokens:write');
    const content = checkJoinToken(input);
    requirePermission(viewer, `worker:${content.worker ?? '*'}:serve`, 'worker');
    for (const pattern of content.registers) requirePermission(viewer, registerPermission(pattern), 'registers');
    const secret = newSecret(JOIN_TOKEN_PREFIX);
    const { ttlSeconds } = input;
    return {
      joinToken: await this.#store.create(secret, { ...content, ttlSeconds }, authorOf(viewer, requestId)),
      secret,
    };
  }

  async page(page: Page, filter: JoinTokenFilter, viewer: Viewer): Promise<{ items: JoinTokenRow[]; more: boolean }> {
    requirePermission(viewer, 'admin:tokens:read');
    return this.#store.page(page, filter);
  }

  async count(filter: JoinTokenFilter): Promise<Count> {
    return this.#store.count(filter);
  }

  /** null: there is none, or it may not be read. */
  async byId(id: number, viewer: Viewer): Promise<JoinTokenRow | null> {
    return may(viewer, 'admin:tokens:read') ? this.#store.byId(id) : null;
  }

  /** Errors: FORBIDDEN, NOT_FOUND. */
  async revoke(id: string, viewer: Viewer, requestId: string): Promise<JoinTokenRow> {
    requirePermission(viewer, 'admin:tokens:write');
    const raw = decodeInt('jt', id);
    const row = raw === null ? null : await this.#store.revoke(raw, authorOf(viewer, requestId));
    if (row === null) throw new MusterError('NOT_FOUND', 'There is no such join token.', { field: 'id' });
    return row;
  }

  /** Forgets the used, revoked and expired ones. Errors: FORBIDDEN. */
  async purge(viewer: Viewer, requestId: string): Promise<number> {
    requirePermission(viewer, 'admin:tokens:write');
    return this.#store.purge(authorOf(viewer, requestId));
  }
}
