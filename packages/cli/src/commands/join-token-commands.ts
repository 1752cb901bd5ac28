import {
  type CredentialStatus,
  JoinTokenCreateDocument,
  type JoinTokenFieldsFragment,
  JoinTokenListDocument,
  JoinTokenPurgeDocument,
  JoinTokenRevokeDocument,
} from '@muster/client';
import { paintState } from '../output/style.ts';
import { renderTable, titled } from '../output/table.ts';
import { ago } from '../output/words.ts';
import { parsePairs } from '../settings/parse-arguments.ts';
import { parseDuration } from '../settings/parse-duration.ts';
import { allPages } from './all-pages.ts';
import { type CommandContext, show } from './context.ts';

export interface JoinTokenCreateFlags {
  readonly worker?: string;
  readonly role?: string;
  readonly label?: readonly string[];
  readonly service?: readonly string[];
  readonly registers?: readonly string[];
  readonly ttl?: string;
  readonly description?: string;
}

export interface JoinTokenListFlags {
  readonly status?: string;
  readonly worker?: string;
}

const MONTH_SECONDS = 2_592_000;

/** `muster join-token create`: the secret alone on stdout, what it is for on stderr. */
export async function joinTokenCreate(context: CommandContext, flags: JoinTokenCreateFlags): Promise<void> {
  const { worker, role, description, label = [], service = [], registers = [], ttl } = flags;
  const labels = Object.entries(parsePairs(label, '--label')).map(([key, value]) => ({ key, value }));
  const input = {
    ...(worker === undefined ? {} : { worker }),
    ...(role === undefined ? {} : { role }),
    ...(description === undefined ? {} : { description }),
    ...(ttl === undefined ? {} : { ttlSeconds: parseDuration(ttl, '--ttl', MONTH_SECONDS) }),
    labels,
    services: [...service],
    registers: [...registers],
  };
  const { createJoinToken } = await context.client.request(JoinTokenCreateDocument, { input });
  const { joinToken, secret } = createJoinToken;
  show(context, createJoinToken, () => secret);
  if (context.json) return;
  context.io.err(`Good for one worker (${boundTo(joinToken)}) until ${joinToken.expiresAt}; it is not shown again.`);
  context.io.err('On its machine: MUSTER_JOIN_TOKEN=… muster worker start FILE');
}

/** `muster join-token list`. */
export async function joinTokenList(context: CommandContext, flags: JoinTokenListFlags): Promise<void> {
  const filter = {
    ...(flags.status === undefined ? {} : { status: flags.status.toUpperCase() as CredentialStatus }),
    ...(flags.worker === undefined ? {} : { worker: flags.worker }),
  };
  const { nodes, more } = await allPages(async (first, after) => {
    return (await context.client.request(JoinTokenListDocument, { first, after, filter })).joinTokens;
  });
  show(context, nodes, (style) => {
    if (nodes.length === 0) return 'No join tokens. Make one: muster join-token create';
    const now = Date.now();
    const rows = nodes.map((token) => [
      token.id,
      `${token.prefix}…`,
      paintState(token.status, style),
      boundTo(token),
      [...token.services, ...token.registers.map((one) => `registers ${one}`)].join(' '),
      token.usedBy ?? '',
      token.status === 'ACTIVE' ? token.expiresAt : '',
      `${ago(token.createdAt, now)} ago by ${token.createdBy}`,
      token.description ?? '',
    ]);
    const titles = ['id', 'token', 'status', 'for', 'grants', 'used by', 'expires', 'made', 'description'];
    return renderTable(titled(titles, ['id', 'token', 'status']), rows, style) + (more ? '\n… and more' : '');
  });
}

/** `muster join-token revoke ID`. */
export async function joinTokenRevoke(context: CommandContext, id: string): Promise<void> {
  const { revokeJoinToken } = await context.client.request(JoinTokenRevokeDocument, { id });
  const { joinToken } = revokeJoinToken;
  show(context, joinToken, () =>
    joinToken.status === 'USED'
      ? `${id} was used by ${joinToken.usedBy ?? 'a worker'}: remove that worker, or revoke its credential.`
      : `${id} is revoked.`,
  );
}

/** `muster join-token purge`. */
export async function joinTokenPurge(context: CommandContext): Promise<void> {
  const { purgeJoinTokens } = await context.client.request(JoinTokenPurgeDocument, {});
  show(context, purgeJoinTokens, () => `${purgeJoinTokens.count} forgotten.`);
}

function boundTo({ worker, role, labels }: JoinTokenFieldsFragment): string {
  const parts = [worker ?? 'any name', role ?? 'any role', ...labels.map(({ key, value }) => `${key}=${value}`)];
  return parts.join(' ');
}
