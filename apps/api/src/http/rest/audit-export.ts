import type { ServerResponse } from 'node:http';
import type { SealedRecord } from '@muster/core';
import { type AuditRow, recordOf } from '../../modules/audit/audit-row.ts';

/** A reader that takes nothing for so long is given up. */
const STALLED_MS = 60_000;

const CSV_COLUMNS = [
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
  'hash',
] as const satisfies readonly (keyof SealedRecord)[];

export const csvHeader = `${CSV_COLUMNS.join(',')}\r\n`;

export function jsonLine(row: AuditRow): string {
  return `${JSON.stringify(recordOf(row))}\n`;
}

/** By RFC 4180; before and after as JSON, nothing for null. */
export function csvLine(row: AuditRow): string {
  const record = recordOf(row);
  const cells = CSV_COLUMNS.map((name) => {
    const value = record[name];
    return csvCell(value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value));
  });
  return `${cells.join(',')}\r\n`;
}

/** Spreadsheets run cells that begin so as formulas, wherever they came from: an apostrophe makes them text. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Sends pages as fast as they are taken: the next one is read when the last one is on its way, so that one page is all that is held. Where it cannot go on (the reader
 * stalls or goes, the permission or the database does) the connection breaks, so that nobody takes a part for the whole.
 */
export async function sendPages(
  response: ServerResponse,
  pages: AsyncGenerator<AuditRow[], void, void>,
  format: (row: AuditRow) => string,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  try {
    for await (const page of pages) {
      if (response.destroyed) return;
      if (response.write(page.map(format).join(''))) continue;
      timer = setTimeout(() => response.destroy(), STALLED_MS);
      await Promise.race([new Promise<void>((resolve) => response.once('drain', resolve)), closed]);
      clearTimeout(timer);
    }
    if (!response.destroyed) response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
