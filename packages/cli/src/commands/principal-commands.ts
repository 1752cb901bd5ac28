import {
  PrincipalCreateDocument,
  PrincipalDeleteDocument,
  type PrincipalFieldsFragment,
  PrincipalListDocument,
  PrincipalPasswordDocument,
  PrincipalShowDocument,
  PrincipalUpdateDocument,
} from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { apiTokenTable, sessionTable } from '../output/access-text.ts';
import { renderFields, renderTable, titled } from '../output/table.ts';
import { parseWhole } from '../settings/parse-arguments.ts';
import { readTextOption } from '../settings/read-source.ts';
import { allPages } from './all-pages.ts';
import { type CommandContext, show } from './context.ts';

export interface PrincipalListFlags {
  readonly search?: string;
  readonly role?: string;
  readonly disabled?: boolean;
}

export interface PrincipalCreateFlags {
  readonly service?: boolean;
  readonly role?: readonly string[];
  readonly password?: string;
}

export interface PrincipalUpdateFlags {
  readonly role?: readonly string[];
  readonly expectedRevision?: string;
}

/** `muster principal list`. */
export async function principalList(context: CommandContext, flags: PrincipalListFlags): Promise<void> {
  const filter = { search: flags.search ?? null, role: flags.role ?? null, disabled: flags.disabled ?? null };
  const { nodes, more } = await allPages(async (first, after) => {
    return (await context.client.request(PrincipalListDocument, { first, after, filter })).principals;
  });
  show(context, nodes, (style) => {
    if (nodes.length === 0) return 'No principals.';
    const rows = nodes.map((principal) => [
      principal.name,
      kindText(principal),
      principal.roles.join(', '),
      principal.disabled ? 'disabled' : '',
      principal.createdAt,
    ]);
    const columns = titled(['name', 'kind', 'roles', '', 'since'], ['name', 'since']);
    return renderTable(columns, rows, style) + (more ? '\n… and more' : '');
  });
}

/** `muster principal show NAME`. */
export async function principalShow(context: CommandContext, name: string): Promise<void> {
  const { principal } = await context.client.request(PrincipalShowDocument, { name });
  if (principal === null) throw missing(name);
  show(context, principal, (style) => {
    const fields = renderFields(
      [
        ['name', style.bold(principal.name)],
        ['kind', kindText(principal)],
        ['roles', principal.roles.join(', ')],
        ['may', principal.permissions.join(' ')],
        ['disabled', principal.disabled ? 'yes' : null],
        ['password', principal.hasPassword ? 'yes' : null],
        ['identity', principal.externalIdentity],
        ['made', `${principal.createdAt} by ${principal.createdBy}`],
        ['revision', String(principal.revision)],
      ],
      style,
    );
    const { tokens, sessions } = principal;
    const lists = [
      tokens.length === 0 ? '' : `\n\n${style.bold('Tokens')}\n${apiTokenTable(tokens, style)}`,
      sessions.length === 0 ? '' : `\n\n${style.bold('Sessions')}\n${sessionTable(sessions, style)}`,
    ];
    return fields + lists.join('');
  });
}

/** `muster principal create NAME`. */
export async function principalCreate(
  context: CommandContext,
  name: string,
  flags: PrincipalCreateFlags,
): Promise<void> {
  const password = flags.password === undefined ? null : await readSecret(flags.password, context);
  const kind = flags.service === true ? 'SERVICE' : 'USER';
  const input = { name, kind, roles: flags.role ?? [], password } as const;
  const { createPrincipal } = await context.client.request(PrincipalCreateDocument, {
    input: { ...input, roles: [...input.roles] },
  });
  show(context, createPrincipal.principal, () => `${name} is made. Give it a token: muster token create --for ${name}`);
}

/** `muster principal update NAME --role …`. */
export async function principalUpdate(
  context: CommandContext,
  name: string,
  flags: PrincipalUpdateFlags,
): Promise<void> {
  if (flags.role === undefined)
    throw new CommandError('Name its roles, all of them: --role operator --role …', exitCodes.usage);
  await change(context, name, { roles: [...flags.role] }, flags.expectedRevision);
}

/** `muster principal enable|disable NAME`. */
export async function principalDisable(context: CommandContext, name: string, disabled: boolean): Promise<void> {
  await change(context, name, { disabled }, undefined);
}

/** `muster principal delete NAME`. */
export async function principalDelete(context: CommandContext, name: string): Promise<void> {
  const { deletePrincipal } = await context.client.request(PrincipalDeleteDocument, { input: { name } });
  show(context, deletePrincipal, () => `${name} is deleted, with its tokens and sessions.`);
}

/** `muster principal password NAME PASSWORD`. */
export async function principalPassword(context: CommandContext, name: string, given: string): Promise<void> {
  const password = await readSecret(given, context);
  const { setPassword } = await context.client.request(PrincipalPasswordDocument, { input: { name, password } });
  show(context, setPassword.principal, () => `${name} has a new password. Its sessions have ended.`);
}

async function change(
  context: CommandContext,
  name: string,
  what: { readonly roles?: string[]; readonly disabled?: boolean },
  expected: string | undefined,
): Promise<void> {
  let expectedRevision: number;
  if (expected === undefined) {
    const { principal } = await context.client.request(PrincipalShowDocument, { name });
    if (principal === null) throw missing(name);
    expectedRevision = principal.revision;
  } else expectedRevision = parseWhole(expected, '--expected-revision', 1, 2_147_483_647);
  const input = { name, ...what, expectedRevision };
  const { updatePrincipal } = await context.client.request(PrincipalUpdateDocument, { input });
  show(context, updatePrincipal.principal, () => {
    const { roles, disabled, revision } = updatePrincipal.principal;
    return `${name} is at revision ${revision}: ${disabled ? 'disabled' : `roles ${roles.join(', ') || 'none'}`}.`;
  });
}

/** A line end at the end of a file or of stdin is not part of a secret. */
async function readSecret(text: string, context: CommandContext): Promise<string> {
  return (await readTextOption(text, context.io)).replace(/\r?\n$/, '');
}

function kindText({ kind }: Pick<PrincipalFieldsFragment, 'kind'>): string {
  return kind === 'USER' ? 'person' : 'service';
}

function missing(name: string): CommandError {
  return new CommandError(`There is no principal ${name}, or you may not read it.`, exitCodes.notFound);
}
