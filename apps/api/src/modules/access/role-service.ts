import { BUILT_IN_ROLES, checkText, type Issue, MusterError, quote } from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import { issuesError } from '../../lib/issues.ts';
import { authorOf } from '../audit/audit-log.ts';
import { requirePermission, type Viewer } from '../viewer/viewer.ts';
import { isBuiltIn, permissionsOf } from './credential-reads.ts';
import { checkPermissions, requireCover } from './grants.ts';
import { checkRoleName } from './names.ts';
import { type AccessRoleRow, MAX_ROLES, type RoleStore } from './role-store.ts';

export interface CreateRoleArgs {
  name: string;
  description?: string | null | undefined;
  permissions: readonly string[];
}

export interface UpdateRoleArgs {
  name: string;
  /** Absent: stays. */
  description?: string | null | undefined;
  permissions?: readonly string[] | null | undefined;
  expectedRevision: number;
}

const MAX_DESCRIPTION = 256;
const ABOUT: Readonly<Record<keyof typeof BUILT_IN_ROLES, string>> = {
  admin: 'Everything.',
  operator: 'Reads and runs everything; writes deployments, workflows, workers and schedules.',
  viewer: 'Reads everything but access and the audit.',
  worker: 'Nothing by itself: what a worker may do follows from its own credential.',
};
/** Built-in roles have never changed. */
const ALWAYS = new Date(0);

/** Roles: the built-in ones, which nobody changes, and those that are made here. Nobody makes one that may more than he. */
export class RoleService {
  readonly #store: RoleStore;
  readonly #bus: Bus;

  constructor(store: RoleStore, bus: Bus) {
    this.#store = store;
    this.#bus = bus;
  }

  /** The built-in ones first. Errors: FORBIDDEN. */
  async all(viewer: Viewer): Promise<AccessRoleRow[]> {
    requirePermission(viewer, 'admin:roles:read');
    return [...BUILT_IN, ...(await this.#store.all())];
  }

  /** null: there is none. Errors: FORBIDDEN. */
  async byName(name: string, viewer: Viewer): Promise<AccessRoleRow | null> {
    requirePermission(viewer, 'admin:roles:read');
    return this.#find(name);
  }

  /** Roles that were made here, whoever asks. */
  facts(names: readonly string[]): Promise<Map<string, AccessRoleRow>> {
    return this.#store.byNames(names);
  }

  principalCounts(names: readonly string[]): Promise<Map<string, number>> {
    return this.#store.principalCounts(names);
  }

  /** What these roles let somebody do. Errors: BAD_INPUT naming those that do not exist. */
  async permissionsOf(roles: readonly string[], field: string): Promise<string[]> {
    const found = await this.#store.byNames(roles);
    const missing = roles.flatMap((role, index): Issue[] =>
      isBuiltIn(role) || found.has(role)
        ? []
        : [{ path: `${field}.${index}`, code: 'NO_SUCH_ROLE', message: `there is no role ${quote(role)}` }],
    );
    if (missing.length > 0) throw issuesError('BAD_INPUT', missing);
    return permissionsOf(
      roles,
      [...found.values()].flatMap(({ permissions }) => permissions),
    );
  }

  /** Errors: FORBIDDEN; BAD_INPUT with every problem; CONFLICT for a name in use. */
  async create(args: CreateRoleArgs, viewer: Viewer, requestId: string): Promise<AccessRoleRow> {
    requirePermission(viewer, 'admin:roles:write');
    const { name, description = null, permissions } = args;
    refuse([...checkRoleName(name, 'name'), ...checkContent(description, permissions)]);
    requireCover(viewer, permissions, 'permissions');
    const content = { description, permissions: [...new Set(permissions)] };
    const made = isBuiltIn(name) ? null : await this.#store.create(name, content, authorOf(viewer, requestId));
    if (made === null) throw new MusterError('CONFLICT', `There is a role ${quote(name)} already.`, { field: 'name' });
    if (made === 'full') throw new MusterError('CONFLICT', `There are ${MAX_ROLES} roles already.`, { field: 'name' });
    return made;
  }

  /** What is absent stays. Errors: FORBIDDEN, NOT_FOUND, BAD_INPUT; CONFLICT for a built-in role, or with the `current` revision. */
  async update(args: UpdateRoleArgs, viewer: Viewer, requestId: string): Promise<AccessRoleRow> {
    requirePermission(viewer, 'admin:roles:write');
    refuse(checkContent(args.description ?? null, args.permissions ?? []));
    const before = await this.#changeable(args.name);
    const { description = before.description } = args;
    const permissions = [...new Set(args.permissions ?? before.permissions)];
    requireCover(viewer, [...before.permissions, ...permissions], 'permissions');
    if (before.revision !== args.expectedRevision) throw revisionConflict(before.revision);
    const content = { description, permissions };
    const made = await this.#store.update(before, args.expectedRevision, content, authorOf(viewer, requestId));
    if (made === null) throw revisionConflict((await this.#changeable(args.name)).revision);
    this.#bus.publish('access', { role: args.name });
    return made;
  }

  /** Errors: FORBIDDEN, NOT_FOUND; CONFLICT for a built-in role, and where somebody has it. */
  async delete(name: string, viewer: Viewer, requestId: string): Promise<void> {
    requirePermission(viewer, 'admin:roles:write');
    const row = await this.#changeable(name);
    requireCover(viewer, row.permissions, 'name');
    const holders = await this.#store.delete(row, authorOf(viewer, requestId));
    if (holders > 0) {
      const message = `${holders} principal${holders === 1 ? ' has' : 's have'} this role; take it from them first.`;
      throw new MusterError('CONFLICT', message, { field: 'name', details: { principals: holders } });
    }
    this.#bus.publish('access', { role: name });
  }

  async #find(name: string): Promise<AccessRoleRow | null> {
    return BUILT_IN.find((role) => role.name === name) ?? (await this.#store.byNames([name])).get(name) ?? null;
  }

  async #changeable(name: string): Promise<AccessRoleRow> {
    const row = await this.#find(name);
    if (row === null) throw new MusterError('NOT_FOUND', 'There is no such role.', { field: 'name' });
    if (row.builtIn) throw new MusterError('CONFLICT', `${name} is built in and cannot be changed.`, { field: 'name' });
    return row;
  }
}

const BUILT_IN: readonly AccessRoleRow[] = (Object.keys(ABOUT) as (keyof typeof ABOUT)[]).map((name) => ({
  name,
  description: ABOUT[name],
  permissions: BUILT_IN_ROLES[name],
  builtIn: true,
  revision: 0,
  updatedAt: ALWAYS,
  updatedBy: null,
}));

/** CONFLICT with `details.current.revision`. */
export function revisionConflict(current: number): MusterError {
  const message = `It was changed meanwhile: it is at revision ${current}. Read it again.`;
  return new MusterError('CONFLICT', message, {
    field: 'expectedRevision',
    details: { current: { revision: current } },
  });
}

function checkContent(description: string | null, permissions: readonly string[]): Issue[] {
  const text = description === null ? [] : checkText(description, 'description', 'a description', MAX_DESCRIPTION);
  return [...text, ...checkPermissions(permissions, 'permissions')];
}

/** Errors: BAD_INPUT with these problems, where there are any. */
export function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw issuesError('BAD_INPUT', issues);
}
