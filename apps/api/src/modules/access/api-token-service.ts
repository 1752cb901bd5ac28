import { checkText, type Issue, MusterError } from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import type { Page } from '../../graphql/connection.ts';
import { decodeInt } from '../../graphql/ids.ts';
import type { Count } from '../../graphql/page-rows.ts';
import { authorOf } from '../audit/audit-log.ts';
import { may, requirePermission, type Viewer } from '../viewer/viewer.ts';
import type { ApiTokenFilter, ApiTokenRow, ApiTokenStore } from './api-token-store.ts';
import { API_TOKEN_PREFIX } from './access.ts';
import { checkPermissions, requireCover, requirePrincipal } from './grants.ts';
import { isOwn } from './principal-service.ts';
import type { PrincipalStore } from './principal-store.ts';
import { refuse, type RoleService } from './role-service.ts';
import { newSecret } from './secrets.ts';

export interface ApiTokenServiceDeps {
  store: ApiTokenStore;
  principals: PrincipalStore;
  roles: RoleService;
  bus: Bus;
  /** ms by the database's clock. */
  now(): number;
}

export interface CreateApiTokenArgs {
  /** Absent: one's own. */
  principal?: string | null | undefined;
  name: string;
  /** Empty: all that the principal may. */
  scopes: readonly string[];
  /** Absent: until it is revoked. */
  expiresAt?: Date | null | undefined;
}

const MAX_NAME = 128;
const MAX_LIFE_MS = 10 * 365 * 86_400_000;

/** API tokens: one's own, and with `admin:tokens:…` those of others. Nobody makes one that may more than he. */
export class ApiTokenService {
  readonly #deps: ApiTokenServiceDeps;

  constructor(deps: ApiTokenServiceDeps) {
    this.#deps = deps;
  }

  /** All of them, or for whoever may not read those of others his own. Errors: FORBIDDEN for workers and executions. */
  page(page: Page, filter: ApiTokenFilter, viewer: Viewer): Promise<{ items: ApiTokenRow[]; more: boolean }> {
    return this.#deps.store.page(page, readable(filter, viewer));
  }

  count(filter: ApiTokenFilter, viewer: Viewer): Promise<Count> {
    return this.#deps.store.count(readable(filter, viewer));
  }

  /** null: there is none, or it may not be read. */
  async byId(id: number, viewer: Viewer): Promise<ApiTokenRow | null> {
    const row = await this.#deps.store.byId(id);
    return row !== null && mayRead(viewer, row.principalName) ? row : null;
  }

  /** Of these principals, as far as they may be read. */
  async ofPrincipals(ids: readonly number[], viewer: Viewer): Promise<Map<number, ApiTokenRow[]>> {
    const found = await this.#deps.store.ofPrincipals(ids);
    return new Map([...found].filter(([, rows]) => rows.every((row) => mayRead(viewer, row.principalName))));
  }

  /**
   * `secret` is shown now and never again. A token that was itself asked for with a token lives no longer than that one.
   * Errors: FORBIDDEN, NOT_FOUND; BAD_INPUT with every problem; CONFLICT where the principal has too many.
   */
  async create(
    args: CreateApiTokenArgs,
    viewer: Viewer,
    requestId: string,
  ): Promise<{ token: ApiTokenRow; secret: string }> {
    requirePrincipal(viewer);
    const { name, scopes, expiresAt = null } = args;
    const owner = args.principal ?? viewer.name;
    if (!isOwn(viewer, owner)) requirePermission(viewer, 'admin:tokens:write', 'principal');
    refuse([
      ...checkTokenName(name),
      ...checkPermissions(scopes, 'scopes'),
      ...checkExpiry(expiresAt, this.#deps.now()),
    ]);
    const principal = await this.#deps.principals.byName(owner);
    if (principal === null || principal.disabledAt !== null) {
      const message = principal === null ? 'There is no such principal.' : `${owner} is disabled.`;
      throw new MusterError(principal === null ? 'NOT_FOUND' : 'CONFLICT', message, { field: 'principal' });
    }
    const all = await this.#deps.roles.permissionsOf(principal.roles, 'roles');
    requireCover(viewer, scopes.length === 0 ? all : scopes, scopes.length === 0 ? 'principal' : 'scopes');
    await this.#refuseToOutlive(expiresAt, viewer);
    const secret = newSecret(API_TOKEN_PREFIX);
    const content = { principalId: principal.id, name, scopes: [...new Set(scopes)], expiresAt };
    return { token: await this.#deps.store.create(secret, content, authorOf(viewer, requestId)), secret };
  }

  /** Errors: NOT_FOUND, also for one of somebody else's that may not be read; FORBIDDEN. */
  async revoke(id: string, viewer: Viewer, requestId: string): Promise<ApiTokenRow> {
    requirePrincipal(viewer);
    const raw = decodeInt('tk', id);
    const known = raw === null ? null : await this.#deps.store.byId(raw);
    const visible = known !== null && (mayRead(viewer, known.principalName) || may(viewer, 'admin:tokens:write'));
    if (!visible) throw noToken();
    if (!isOwn(viewer, known.principalName)) requirePermission(viewer, 'admin:tokens:write', 'id');
    const row = await this.#deps.store.revoke(known.id, authorOf(viewer, requestId));
    if (row === null) throw noToken();
    this.#deps.bus.publish('access', { tokenId: known.id });
    return row;
  }

  async #refuseToOutlive(expiresAt: Date | null, { credential }: Viewer): Promise<void> {
    if (credential.kind !== 'token') return;
    const limit = (await this.#deps.store.byId(credential.id))?.expiresAt ?? null;
    if (limit === null || (expiresAt !== null && expiresAt <= limit)) return;
    throw new MusterError(
      'FORBIDDEN',
      `The token that asks ends at ${limit.toISOString()}: it can make none that lives longer.`,
      {
        field: 'expiresAt',
      },
    );
  }
}

function noToken(): MusterError {
  return new MusterError('NOT_FOUND', 'There is no such token.', { field: 'id' });
}

function checkTokenName(name: string): Issue[] {
  if (name.trim() === '')
    return [{ path: 'name', code: 'NAME_EMPTY', message: 'a token has a name that says what it is for' }];
  return checkText(name, 'name', 'a token name', MAX_NAME);
}

function checkExpiry(expiresAt: Date | null, now: number): Issue[] {
  if (expiresAt === null || (expiresAt.getTime() > now && expiresAt.getTime() <= now + MAX_LIFE_MS)) return [];
  return [{ path: 'expiresAt', code: 'TIME_RANGE', message: 'a token ends in the future, and within ten years' }];
}

function mayRead(viewer: Viewer, owner: string): boolean {
  return may(viewer, 'admin:tokens:read') || isOwn(viewer, owner);
}

/** Whoever may not read the tokens of others sees his own. */
function readable(filter: ApiTokenFilter, viewer: Viewer): ApiTokenFilter {
  if (may(viewer, 'admin:tokens:read')) return filter;
  requirePrincipal(viewer);
  if (filter.principal !== null && filter.principal !== viewer.name) return { ...filter, principal: '' };
  return { ...filter, principal: viewer.name };
}
