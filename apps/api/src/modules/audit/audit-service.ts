import type { ChainHead } from '@muster/core';
import type { Page } from '../../graphql/connection.ts';
import type { Count } from '../../graphql/page-rows.ts';
import { may, requirePermission, type Viewer } from '../viewer/viewer.ts';
import type { AuditChainStore } from './audit-chain-store.ts';
import type { AuditRow } from './audit-row.ts';
import type { AuditFilter, AuditPage, AuditStore } from './audit-store.ts';

const READ = 'admin:audit:read';
/** Entries that an export holds at once. */
const EXPORT_PAGE = 200;

/** Reads the audit, for those who may. */
export class AuditService {
  readonly #store: AuditStore;
  readonly #chain: AuditChainStore;

  constructor(store: AuditStore, chain: AuditChainStore) {
    this.#store = store;
    this.#chain = chain;
  }

  /** null: there is none of this raw id, or it may not be read. */
  async byId(id: string, viewer: Viewer): Promise<AuditRow | null> {
    return may(viewer, READ) ? ((await this.#store.byIds([id])).get(id) ?? null) : null;
  }

  /** Newest first. Errors: FORBIDDEN. */
  page(filter: AuditFilter, page: Page, viewer: Viewer): Promise<AuditPage> {
    requirePermission(viewer, READ);
    return this.#store.page(filter, page);
  }

  /** Errors: FORBIDDEN. */
  count(filter: AuditFilter, viewer: Viewer): Promise<Count> {
    requirePermission(viewer, READ);
    return this.#store.count(filter);
  }

  /**
   * Everything that fits, oldest first, a page at a time, read when it is asked for. `viewerOf` answers who asks now: whoever loses the permission gets no
   * further page. Errors: FORBIDDEN.
   */
  async *export(filter: AuditFilter, viewerOf: () => Viewer): AsyncGenerator<AuditRow[], void, void> {
    for (let after: string | null = null; ; ) {
      requirePermission(viewerOf(), READ);
      const { rows, end } = await this.#store.following(filter, after, EXPORT_PAGE);
      if (rows.length > 0) yield rows;
      if (end === null) return;
      after = end;
    }
  }

  /** The last entry of the chain. Errors: FORBIDDEN. */
  head(viewer: Viewer): Promise<ChainHead> {
    requirePermission(viewer, READ);
    return this.#chain.head();
  }

  /** In the order of the chain, and then what is not sealed yet; as `export`. */
  async *chain(viewerOf: () => Viewer): AsyncGenerator<AuditRow[], void, void> {
    requirePermission(viewerOf(), READ);
    for await (const rows of this.#chain.walk()) {
      requirePermission(viewerOf(), READ);
      yield rows;
    }
  }
}
