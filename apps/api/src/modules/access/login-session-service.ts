import { MusterError } from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import { rawId } from '../../dispatch/ids.ts';
import type { Page } from '../../graphql/connection.ts';
import { decodeUuid } from '../../graphql/ids.ts';
import type { Count } from '../../graphql/page-rows.ts';
import { authorOf } from '../audit/audit-log.ts';
import { may, requirePermission, type Viewer } from '../viewer/viewer.ts';
import { requirePrincipal } from './grants.ts';
import { dashed, type LoginSessionRow, type LoginSessionStore } from './login-session-store.ts';
import { isOwn } from './principal-service.ts';
import type { PrincipalStore } from './principal-store.ts';

export interface LoginSessionServiceDeps {
  store: LoginSessionStore;
  principals: PrincipalStore;
  bus: Bus;
}

/** Browser sessions: one's own, and with `admin:principals:…` those of others. */
export class LoginSessionService {
  readonly #deps: LoginSessionServiceDeps;

  constructor(deps: LoginSessionServiceDeps) {
    this.#deps = deps;
  }

  /** All of them, or for whoever may not read those of others his own. `principal`: a name. */
  page(page: Page, principal: string | null, viewer: Viewer): Promise<{ items: LoginSessionRow[]; more: boolean }> {
    return this.#deps.store.page(page, readable(principal, viewer));
  }

  count(principal: string | null, viewer: Viewer): Promise<Count> {
    return this.#deps.store.count(readable(principal, viewer));
  }

  /** null: there is none, or it may not be read. `id`: raw. */
  async byId(id: string, viewer: Viewer): Promise<LoginSessionRow | null> {
    const row = await this.#deps.store.byId(dashed(id));
    return row !== null && mayRead(viewer, row.principalName) ? row : null;
  }

  /** Of these principals, as far as they may be read. */
  async ofPrincipals(ids: readonly number[], viewer: Viewer): Promise<Map<number, LoginSessionRow[]>> {
    const found = await this.#deps.store.ofPrincipals(ids);
    return new Map([...found].filter(([, rows]) => rows.every((row) => mayRead(viewer, row.principalName))));
  }

  /** The session that asks, or null. */
  async own({ credential }: Viewer): Promise<LoginSessionRow | null> {
    return credential.kind === 'session' ? this.#deps.store.byId(credential.id) : null;
  }

  /** Ends one, everywhere and at once. Errors: NOT_FOUND, also for one that may not be read; FORBIDDEN. */
  async revoke(id: string, viewer: Viewer, requestId: string): Promise<void> {
    requirePrincipal(viewer);
    const raw = decodeUuid('se', id);
    const row = raw === null ? null : await this.#deps.store.byId(dashed(raw));
    const visible = row !== null && (mayRead(viewer, row.principalName) || may(viewer, 'admin:principals:write'));
    if (!visible) throw noSession();
    if (!isOwn(viewer, row.principalName)) requirePermission(viewer, 'admin:principals:write', 'id');
    if (!(await this.#deps.store.end(row, authorOf(viewer, requestId)))) throw noSession();
    this.#deps.bus.publish('access', { sessionId: row.id });
  }

  /** Ends all of a principal. Answers how many. Errors: FORBIDDEN, NOT_FOUND. */
  async revokeAll(principal: string, viewer: Viewer, requestId: string): Promise<number> {
    requirePrincipal(viewer);
    if (!isOwn(viewer, principal)) requirePermission(viewer, 'admin:principals:write', 'principal');
    const row = await this.#deps.principals.byName(principal);
    if (row === null) throw new MusterError('NOT_FOUND', 'There is no such principal.', { field: 'principal' });
    const count = await this.#deps.store.endAll(row.id, row.name, authorOf(viewer, requestId));
    this.#deps.bus.publish('access', { principalId: row.id });
    return count;
  }
}

/** Whether a session is the one that asks. */
export function isCurrent(row: LoginSessionRow, { credential }: Viewer): boolean {
  return credential.kind === 'session' && rawId(credential.id) === rawId(row.id);
}

function noSession(): MusterError {
  return new MusterError('NOT_FOUND', 'There is no such session.', { field: 'id' });
}

function mayRead(viewer: Viewer, owner: string): boolean {
  return may(viewer, 'admin:principals:read') || isOwn(viewer, owner);
}

function readable(principal: string | null, viewer: Viewer): string | null {
  if (may(viewer, 'admin:principals:read')) return principal;
  requirePrincipal(viewer);
  return principal !== null && principal !== viewer.name ? '' : viewer.name;
}
