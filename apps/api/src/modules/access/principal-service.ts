import { type Issue, MusterError } from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import type { Page } from '../../graphql/connection.ts';
import type { Count } from '../../graphql/page-rows.ts';
import { authorOf } from '../audit/audit-log.ts';
import { may, requirePermission, type Viewer } from '../viewer/viewer.ts';
import type { KnownPrincipal } from './credential-reads.ts';
import { requireCover, requirePrincipal } from './grants.ts';
import { checkPrincipalName } from './names.ts';
import { checkPassword, Passwords } from './passwords.ts';
import type { PrincipalFilter, PrincipalKind, PrincipalRow, PrincipalStore } from './principal-store.ts';
import { refuse, revisionConflict, type RoleService } from './role-service.ts';

export interface PrincipalServiceDeps {
  store: PrincipalStore;
  roles: RoleService;
  bus: Bus;
  /** A principal that may enter. */
  principal(name: string): Promise<KnownPrincipal | null>;
  /** Counts a guess at a password; call what it answers when it was right. Errors: RATE_LIMITED. */
  guess(name: string, address: string | null): () => void;
}

export interface CreatePrincipalArgs {
  name: string;
  kind: PrincipalKind;
  roles: readonly string[];
  password?: string | null | undefined;
}

export interface UpdatePrincipalArgs {
  name: string;
  /** Absent: stays. */
  roles?: readonly string[] | null | undefined;
  disabled?: boolean | null | undefined;
  expectedRevision: number;
}

const MAX_ROLES = 20;
/** Whoever holds the token of the installation. */
const INSTALLATION = 'admin';

/**
 * People and service accounts. Nobody makes or changes one that may more than he may himself, and somebody is always left who may everything.
 */
export class PrincipalService {
  readonly #deps: PrincipalServiceDeps;
  readonly #passwords = new Passwords();

  constructor(deps: PrincipalServiceDeps) {
    this.#deps = deps;
  }

  /** Errors: FORBIDDEN. */
  page(page: Page, filter: PrincipalFilter, viewer: Viewer): Promise<{ items: PrincipalRow[]; more: boolean }> {
    requirePermission(viewer, 'admin:principals:read');
    return this.#deps.store.page(page, filter);
  }

  count(filter: PrincipalFilter): Promise<Count> {
    return this.#deps.store.count(filter);
  }

  /** null: there is none, or it may not be read. One's own may be. */
  async byName(name: string, viewer: Viewer): Promise<PrincipalRow | null> {
    return mayRead(viewer, name) ? this.#deps.store.byName(name) : null;
  }

  /** Those that may be read. */
  async byIds(ids: readonly number[], viewer: Viewer): Promise<Map<number, PrincipalRow>> {
    const found = await this.#deps.store.byIds(ids);
    return new Map([...found].filter(([, row]) => mayRead(viewer, row.name)));
  }

  /** Errors: FORBIDDEN; BAD_INPUT with every problem; CONFLICT for a name in use. */
  async create(args: CreatePrincipalArgs, viewer: Viewer, requestId: string): Promise<PrincipalRow> {
    requirePermission(viewer, 'admin:principals:write');
    const { name, kind, password = null } = args;
    const roles = [...new Set(args.roles)];
    const issues = [...checkPrincipalName(name, 'name'), ...checkRoles(roles)];
    if (password !== null) {
      issues.push(...checkPassword(password, name, 'password'));
      if (kind === 'SERVICE') issues.push(NO_PASSWORD);
    }
    refuse(issues);
    requireCover(viewer, await this.#deps.roles.permissionsOf(roles, 'roles'), 'roles');
    const passwordHash = password === null ? null : await this.#passwords.hash(password);
    const row = await this.#deps.store.create({ name, kind, roles, passwordHash }, authorOf(viewer, requestId));
    // A name that was there before may be remembered as nobody's.
    this.#deps.bus.publish('access', { principalId: row.id });
    return row;
  }

  /** What is absent stays. Errors: FORBIDDEN, NOT_FOUND, BAD_INPUT; CONFLICT with `current`, or where nobody else may everything. */
  async update(args: UpdatePrincipalArgs, viewer: Viewer, requestId: string): Promise<PrincipalRow> {
    requirePermission(viewer, 'admin:principals:write');
    const roles = args.roles == null ? null : [...new Set(args.roles)];
    refuse(roles === null ? [] : checkRoles(roles));
    const before = await this.#require(args.name);
    await this.#requireCoverOf(before, viewer);
    const next = { roles: roles ?? before.roles, disabled: args.disabled ?? before.disabledAt !== null };
    if (roles !== null) requireCover(viewer, await this.#deps.roles.permissionsOf(roles, 'roles'), 'roles');
    if (before.revision !== args.expectedRevision) throw revisionConflict(before.revision);
    const made = await this.#deps.store.update(before, args.expectedRevision, next, authorOf(viewer, requestId));
    if (made === null) throw revisionConflict((await this.#require(args.name)).revision);
    this.#deps.bus.publish('access', { principalId: before.id });
    return made;
  }

  /** With its tokens and sessions. Errors: FORBIDDEN, NOT_FOUND; CONFLICT for the installation's own, and as for `update`. */
  async delete(name: string, viewer: Viewer, requestId: string): Promise<void> {
    requirePermission(viewer, 'admin:principals:write');
    const before = await this.#require(name);
    await this.#requireCoverOf(before, viewer);
    if (name === INSTALLATION) {
      const message = `${INSTALLATION} is whoever holds the token of this installation: disable it instead.`;
      throw new MusterError('CONFLICT', message, { field: 'name' });
    }
    await this.#deps.store.delete(before, authorOf(viewer, requestId));
    this.#deps.bus.publish('access', { principalId: before.id });
  }

  /** Gives somebody a password; his sessions end. Errors: FORBIDDEN, NOT_FOUND, BAD_INPUT, RATE_LIMITED. */
  async setPassword(name: string, password: string, viewer: Viewer, requestId: string): Promise<PrincipalRow> {
    requirePermission(viewer, 'admin:principals:write');
    refuse(checkPassword(password, name, 'password'));
    const before = await this.#require(name);
    await this.#requireCoverOf(before, viewer);
    if (before.kind === 'SERVICE') refuse([NO_PASSWORD]);
    return this.#setPassword(before, password, null, viewer, requestId);
  }

  /** Other sessions than the one that asks end. Errors: FORBIDDEN for a wrong present password; BAD_INPUT, RATE_LIMITED. */
  async changeOwnPassword(current: string, password: string, viewer: Viewer, requestId: string): Promise<PrincipalRow> {
    requirePrincipal(viewer);
    refuse(checkPassword(password, viewer.name, 'password'));
    // Whoever has found a session, or a token, must not find the password with it.
    const right = this.#deps.guess(viewer.name, viewer.address);
    const known = await this.verifyPassword(viewer.name, current);
    if (known !== null) right();
    else throw new MusterError('FORBIDDEN', 'The present password is not right.', { field: 'current' });
    const keep = viewer.credential.kind === 'session' ? viewer.credential.id : null;
    return this.#setPassword(await this.#require(viewer.name), password, keep, viewer, requestId);
  }

  /**
   * Whoever has this name and password. null: nobody, or he may not enter; all of it takes the same time.
   * Errors: RATE_LIMITED where too many are being checked.
   */
  async verifyPassword(name: string, password: string): Promise<KnownPrincipal | null> {
    const known = checkPrincipalName(name, 'name').length === 0 ? await this.#deps.store.passwordOf(name) : null;
    const fits = await this.#passwords.verify(known?.hash ?? null, password);
    return fits && known?.disabled === false ? this.#deps.principal(name) : null;
  }

  async #setPassword(
    row: PrincipalRow,
    password: string,
    keep: string | null,
    viewer: Viewer,
    requestId: string,
  ): Promise<PrincipalRow> {
    const hash = await this.#passwords.hash(password);
    await this.#deps.store.setPassword(row, hash, keep, authorOf(viewer, requestId));
    this.#deps.bus.publish('access', { principalId: row.id });
    return this.#require(row.name);
  }

  /** Errors: NOT_FOUND. */
  async #require(name: string): Promise<PrincipalRow> {
    const row = checkPrincipalName(name, 'name').length === 0 ? await this.#deps.store.byName(name) : null;
    if (row === null) throw new MusterError('NOT_FOUND', 'There is no such principal.', { field: 'name' });
    return row;
  }

  /** Errors: FORBIDDEN where it may more than the viewer. */
  async #requireCoverOf(row: PrincipalRow, viewer: Viewer): Promise<void> {
    requireCover(viewer, await this.#deps.roles.permissionsOf(row.roles, 'roles'), 'name');
  }
}

const NO_PASSWORD: Issue = {
  path: 'password',
  code: 'PASSWORD_OF_SERVICE',
  message: 'a service account has no password; make it a token',
};

function checkRoles(roles: readonly string[]): Issue[] {
  if (roles.length <= MAX_ROLES) return [];
  return [{ path: 'roles', code: 'LIST_TOO_LONG', message: `at most ${MAX_ROLES} roles, not ${roles.length}` }];
}

function mayRead(viewer: Viewer, name: string): boolean {
  return may(viewer, 'admin:principals:read') || isOwn(viewer, name);
}

/** Whether it is the viewer's own: a person's or a service account's. */
export function isOwn(viewer: Viewer, name: string): boolean {
  return viewer.name === name && (viewer.kind === 'person' || viewer.kind === 'service');
}
