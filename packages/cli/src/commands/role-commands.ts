import {
  AccessRoleCreateDocument,
  AccessRoleDeleteDocument,
  type AccessRoleFieldsFragment,
  AccessRoleListDocument,
  AccessRoleShowDocument,
  AccessRoleUpdateDocument,
} from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { renderFields, renderTable, titled } from '../output/table.ts';
import { parseWhole } from '../settings/parse-arguments.ts';
import { type CommandContext, show } from './context.ts';

export interface RoleContentFlags {
  readonly permission?: readonly string[];
  readonly description?: string;
  readonly expectedRevision?: string;
}

/** `muster role list`. */
export async function roleList(context: CommandContext): Promise<void> {
  const { accessRoles } = await context.client.request(AccessRoleListDocument, {});
  show(context, accessRoles, (style) => {
    const rows = accessRoles.map((role) => [
      role.name,
      role.builtIn ? 'built in' : '',
      String(role.principalCount),
      role.permissions.join(' '),
    ]);
    return renderTable(titled(['role', '', 'principals', 'may'], ['role']), rows, style);
  });
}

/** `muster role show NAME`. */
export async function roleShow(context: CommandContext, name: string): Promise<void> {
  const role = await find(context, name);
  show(context, role, (style) =>
    renderFields(
      [
        ['role', style.bold(role.name)],
        ['about', role.description],
        ['may', role.permissions.join('\n')],
        ['principals', String(role.principalCount)],
        ['revision', role.builtIn ? 'built in' : `${role.revision}, ${role.updatedAt} by ${role.updatedBy ?? ''}`],
      ],
      style,
    ),
  );
}

/** `muster role create NAME --permission …`. */
export async function roleCreate(context: CommandContext, name: string, flags: RoleContentFlags): Promise<void> {
  const input = { name, description: flags.description ?? null, permissions: [...(flags.permission ?? [])] };
  const { createAccessRole } = await context.client.request(AccessRoleCreateDocument, { input });
  show(context, createAccessRole.role, () => `${name} is made.`);
}

/** `muster role update NAME`. */
export async function roleUpdate(context: CommandContext, name: string, flags: RoleContentFlags): Promise<void> {
  const { permission, description, expectedRevision } = flags;
  if (permission === undefined && description === undefined)
    throw new CommandError('Nothing to change: name --permission or --description.', exitCodes.usage);
  const revision =
    expectedRevision === undefined
      ? (await find(context, name)).revision
      : parseWhole(expectedRevision, '--expected-revision', 1, 2_147_483_647);
  const input = {
    name,
    ...(permission === undefined ? {} : { permissions: [...permission] }),
    ...(description === undefined ? {} : { description }),
    expectedRevision: revision,
  };
  const { updateAccessRole } = await context.client.request(AccessRoleUpdateDocument, { input });
  show(context, updateAccessRole.role, () => `${name} is at revision ${updateAccessRole.role.revision}.`);
}

/** `muster role delete NAME`. */
export async function roleDelete(context: CommandContext, name: string): Promise<void> {
  const { deleteAccessRole } = await context.client.request(AccessRoleDeleteDocument, { input: { name } });
  show(context, deleteAccessRole, () => `${name} is deleted.`);
}

async function find(context: CommandContext, name: string): Promise<AccessRoleFieldsFragment> {
  const { accessRole } = await context.client.request(AccessRoleShowDocument, { name });
  if (accessRole === null) throw new CommandError(`There is no role ${name}.`, exitCodes.notFound);
  return accessRole;
}
