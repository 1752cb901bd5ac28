import { execute } from '../../api/client.ts';
import type { AuditFilter } from '../../api/generated/graphql.ts';
import { AuditEntriesDocument, type AuditRow } from './audit-queries.ts';

/** Entries that are kept in the memory of this page at most; more is the work of the command. */
export const EXPORT_MAX = 10_000;
const PAGE = 100;

export const EXPORT_FIELDS = [
  'id',
  'at',
  'actor',
  'action',
  'target',
  'address',
  'requestId',
  'before',
  'after',
  'position',
] as const satisfies readonly (keyof AuditRow)[];

/** Reads what the filter lets through, newest first. `whole` false: there is more than is taken. */
export async function readEntries(filter: AuditFilter): Promise<{ rows: AuditRow[]; whole: boolean }> {
  const rows: AuditRow[] = [];
  let after: string | null = null;
  while (rows.length < EXPORT_MAX) {
    const { auditEntries }: { auditEntries: { nodes: AuditRow[]; pageInfo: Page } } = await execute(
      AuditEntriesDocument,
      { first: PAGE, after, filter },
    );
    rows.push(...auditEntries.nodes);
    after = auditEntries.pageInfo.endCursor ?? null;
    if (!auditEntries.pageInfo.hasNextPage || after === null) return { rows, whole: true };
  }
  return { rows, whole: false };
}

interface Page {
  hasNextPage: boolean;
  endCursor?: string | null;
}

export function jsonLinesOf(rows: readonly AuditRow[]): string {
  return rows
    .map((row) => `${JSON.stringify(Object.fromEntries(EXPORT_FIELDS.map((field) => [field, row[field] ?? null])))}\n`)
    .join('');
}

/** With a head; a text that a spreadsheet would take for a formula gets an apostrophe. */
export function csvOf(rows: readonly AuditRow[]): string {
  const lines = rows.map((row) => EXPORT_FIELDS.map((field) => cell(row[field])).join(','));
  return [EXPORT_FIELDS.join(','), ...lines, ''].join('\r\n');
}

function cell(value: unknown): string {
  if (value == null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Hands a file to the browser's downloads. */
export function download(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** The same from the REST API, whole and as a stream; `$TOKEN` is the reader's to fill in. */
export function exportCommand(filter: AuditFilter, format: 'jsonl' | 'csv'): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (typeof value === 'string') query.set(name, value);
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return `curl -fH "authorization: Bearer $TOKEN" -o muster-audit.${format} '${location.origin}/admin/audit.${format}${search}'`;
}
