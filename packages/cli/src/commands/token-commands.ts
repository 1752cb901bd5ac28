import {
  ApiTokenCreateDocument,
  ApiTokenListDocument,
  ApiTokenRevokeDocument,
  LoginSessionListDocument,
  LoginSessionRevokeAllDocument,
  LoginSessionRevokeDocument,
} from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { apiTokenTable, sessionTable } from '../output/access-text.ts';
import { parseDuration } from '../settings/parse-duration.ts';
import { allPages } from './all-pages.ts';
import { type CommandContext, show } from './context.ts';

export interface TokenCreateFlags {
  readonly for?: string;
  readonly scope?: readonly string[];
  readonly ttl?: string;
}

export interface TokenListFlags {
  readonly for?: string;
  readonly status?: string;
}

const TEN_YEARS = 315_000_000;
const statuses = ['ACTIVE', 'EXPIRED', 'REVOKED'] as const;

/** `muster token list`. */
export async function tokenList(context: CommandContext, flags: TokenListFlags): Promise<void> {
  const wanted = flags.status?.toUpperCase();
  const status = statuses.find((known) => known === wanted) ?? null;
  if (wanted !== undefined && status === null)
    throw new CommandError('--status is active, expired or revoked.', exitCodes.usage);
  const filter = { principal: flags.for ?? null, status };
  const { nodes, more } = await allPages(async (first, after) => {
    return (await context.client.request(ApiTokenListDocument, { first, after, filter })).apiTokens;
  });
  show(context, nodes, (style) =>
    nodes.length === 0 ? 'No tokens.' : apiTokenTable(nodes, style) + (more ? '\n… and more' : ''),
  );
}

/** `muster token create NAME`: the secret on stdout, alone, so that it can be taken from there. */
export async function tokenCreate(context: CommandContext, name: string, flags: TokenCreateFlags): Promise<void> {
  const seconds = flags.ttl === undefined ? null : parseDuration(flags.ttl, '--ttl', TEN_YEARS);
  const expiresAt = seconds === null ? null : new Date(Date.now() + seconds * 1_000).toISOString();
  const input = { principal: flags.for ?? null, name, scopes: [...(flags.scope ?? [])], expiresAt };
  const { createApiToken } = await context.client.request(ApiTokenCreateDocument, { input });
  if (!context.json) context.io.err('Shown this once:');
  show(context, createApiToken, () => createApiToken.secret);
}

/** `muster token revoke ID`. */
export async function tokenRevoke(context: CommandContext, id: string): Promise<void> {
  const { revokeApiToken } = await context.client.request(ApiTokenRevokeDocument, { id });
  show(context, revokeApiToken.token, () => `${id} is revoked. What was opened with it has ended.`);
}

/** `muster session list`. */
export async function sessionList(context: CommandContext, flags: { readonly of?: string }): Promise<void> {
  const filter = { principal: flags.of ?? null };
  const { nodes, more } = await allPages(async (first, after) => {
    return (await context.client.request(LoginSessionListDocument, { first, after, filter })).loginSessions;
  });
  show(context, nodes, (style) =>
    nodes.length === 0 ? 'No sessions.' : sessionTable(nodes, style) + (more ? '\n… and more' : ''),
  );
}

/** `muster session revoke ID`, or all of a principal. */
export async function sessionRevoke(
  context: CommandContext,
  id: string | undefined,
  flags: { readonly of?: string },
): Promise<void> {
  if ((id === undefined) === (flags.of === undefined))
    throw new CommandError('Name one session, or --of and a principal for all of his.', exitCodes.usage);
  if (flags.of !== undefined) {
    const { revokeLoginSessions } = await context.client.request(LoginSessionRevokeAllDocument, {
      principal: flags.of,
    });
    show(context, revokeLoginSessions, () => `${revokeLoginSessions.count} of ${flags.of ?? ''} have ended.`);
    return;
  }
  const { revokeLoginSession } = await context.client.request(LoginSessionRevokeDocument, { id: id ?? '' });
  show(context, revokeLoginSession, () => `${id ?? ''} has ended.`);
}
