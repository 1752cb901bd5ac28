import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AuditListDocument } from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { renderTable, titled } from '../output/table.ts';
import { parseWhole } from '../settings/parse-arguments.ts';
import { allPages } from './all-pages.ts';
import { type CommandContext, show } from './context.ts';
import { fetchRest } from './fetch-rest.ts';

export interface AuditFilterFlags {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly after?: string;
  readonly before?: string;
}

/** What one entry changed, in one line. */
function changeText(before: unknown, after: unknown): string {
  const text = (value: unknown): string => (value === null ? '–' : JSON.stringify(value));
  return `${text(before)} → ${text(after)}`;
}

/** `muster audit list`: newest first. */
export async function auditList(
  context: CommandContext,
  flags: AuditFilterFlags & { readonly limit?: string },
): Promise<void> {
  const { actor = null, action = null, target = null, after = null, before = null } = flags;
  const filter = { actor, action, target, after, before };
  const limit = flags.limit === undefined ? 100 : parseWhole(flags.limit, '--limit', 1, 2_000);
  const { nodes, more } = await allPages(
    async (first, cursor) =>
      (await context.client.request(AuditListDocument, { first, after: cursor, filter })).auditEntries,
    limit,
  );
  show(context, nodes, (style) => {
    if (nodes.length === 0) return 'No entries.';
    const rows = nodes.map((entry) => [
      entry.at,
      entry.actor,
      entry.address ?? style.dim('server'),
      entry.action,
      entry.target ?? '',
      changeText(entry.before, entry.after),
    ]);
    const columns = titled(['at', 'who', 'from', 'action', 'target', 'before → after'], ['at', 'action']);
    return renderTable(columns, rows, style) + (more ? '\n… and more' : '');
  });
}

export interface AuditExportFlags extends AuditFilterFlags {
  readonly format?: string;
  readonly output?: string;
}

/** `muster audit export`: everything that fits, oldest first, as it arrives. */
export async function auditExport(context: CommandContext, flags: AuditExportFlags): Promise<void> {
  const { format = 'jsonl', output, actor, action, target, after, before } = flags;
  if (format !== 'jsonl' && format !== 'csv') throw new CommandError('--format is jsonl or csv.', exitCodes.usage);
  const { body } = await fetchRest(context, `/admin/audit.${format}`, { actor, action, target, after, before });
  const file = output === undefined ? null : resolve(context.io.cwd, output);
  try {
    if (file !== null) await pipeline(Readable.fromWeb(body as never), createWriteStream(file));
    else for await (const lines of wholeLines(body)) context.io.out(lines);
  } catch (error) {
    throw new CommandError(
      `The export broke off and is not complete: ${error instanceof Error ? error.message : String(error)}.`,
      exitCodes.unavailable,
    );
  }
}

/** The text in pieces that end where a line does, without that end. */
async function* wholeLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const end = rest.lastIndexOf('\n');
    if (end < 0) continue;
    yield rest.slice(0, end);
    rest = rest.slice(end + 1);
  }
}
