import { MusterError } from '@muster/core';
import { readAuditFilter } from '../../modules/audit/audit-list.ts';
import type { AuditRow } from '../../modules/audit/audit-row.ts';
import { csvHeader, csvLine, jsonLine, sendPages } from './audit-export.ts';
import * as examples from './examples.ts';
import { queryParameter } from './parameters.ts';
import type { Parameter, RestCall, Route } from './route.ts';

const time = { type: 'string', format: 'date-time' } as const;
const filters: readonly Parameter[] = [
  queryParameter('actor', 'What this principal did.', { type: 'string' }, 'anna'),
  queryParameter('action', 'What actions begin with.', { type: 'string' }, 'deployment.'),
  queryParameter('target', 'What was done to it: kind and name.', { type: 'string' }, 'worker:worker-7'),
  queryParameter('after', 'From this moment on.', time, '2026-01-02T00:00:00Z'),
  queryParameter('before', 'Until before this moment.', time, '2026-01-03T00:00:00Z'),
];
const order = queryParameter(
  'order',
  '`time`: oldest first. `position`: the whole chain in its order, then what is not sealed yet; takes no filters.',
  { enum: ['time', 'position'], default: 'time' },
  'time',
);

/** `position:hash` of the last entry of the chain, before the answer began. */
const HEAD = 'X-Muster-Audit-Head';
const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/** Errors: BAD_INPUT. */
function timeOf(query: ReadonlyMap<string, string>, name: string): Date | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  const date = new Date(text);
  if (!RFC_3339.test(text) || Number.isNaN(date.getTime()))
    throw new MusterError('BAD_INPUT', `${name} must be an RFC 3339 date and time with a time zone.`, { field: name });
  return date;
}

/** What the query asks for, a page at a time. Errors: BAD_INPUT, FORBIDDEN. */
function pagesOf({ query, context }: RestCall): AsyncGenerator<AuditRow[], void, void> {
  const filter = readAuditFilter({
    actor: query.get('actor'),
    action: query.get('action'),
    target: query.get('target'),
    after: timeOf(query, 'after'),
    before: timeOf(query, 'before'),
  });
  return filter === null ? nothing() : context.services.audit.export(filter, () => context.viewer);
}

async function* nothing(): AsyncGenerator<AuditRow[], void, void> {}

async function send(
  { request, response }: RestCall,
  pages: AsyncGenerator<AuditRow[], void, void>,
  file: {
    type: string;
    name: string;
    header: string;
    format: (row: AuditRow) => string;
    headers?: Record<string, string>;
  },
): Promise<null> {
  response.writeHead(200, {
    'content-type': file.type,
    'content-disposition': `attachment; filename="${file.name}"`,
    'cache-control': 'no-store, no-transform',
    'x-content-type-options': 'nosniff',
    ...file.headers,
  });
  if (request.method === 'HEAD') response.end();
  else {
    response.write(file.header);
    await sendPages(response, pages, file.format);
  }
  return null;
}

const jsonLines = {
  type: 'application/x-ndjson; charset=utf-8',
  name: 'muster-audit.jsonl',
  header: '',
  format: jsonLine,
};
const csv = {
  type: 'text/csv; charset=utf-8; header=present',
  name: 'muster-audit.csv',
  header: csvHeader,
  format: csvLine,
};

export const auditRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/admin/audit.jsonl',
    operationId: 'exportAuditJsonl',
    tag: 'Audit',
    summary: 'Export the audit as JSON lines',
    description: 'Oldest first, one entry a line, as fast as it is read. An answer that breaks off is not complete.',
    access: { permission: 'admin:audit:read' },
    parameters: [...filters, order],
    answers: {
      200: {
        description: 'The entries.',
        schema: { type: 'string' },
        example: examples.auditLine,
        contentType: 'application/x-ndjson',
        headers: { [HEAD]: 'With `order=position`: position and hash of the last sealed entry.' },
      },
    },
    errors: [],
    partsAreUseless: true,
    async handle(call) {
      const { query, context } = call;
      const wanted = query.get('order') ?? 'time';
      if (wanted === 'time') return send(call, pagesOf(call), jsonLines);
      if (wanted !== 'position')
        throw new MusterError('BAD_INPUT', 'order must be time or position.', { field: 'order' });
      if (query.size > 1)
        throw new MusterError('BAD_INPUT', 'order=position is the whole chain: it takes no filters.', {
          field: 'order',
        });
      const { audit } = context.services;
      const { position, hash } = await audit.head(context.viewer);
      const headers = { [HEAD]: `${position}:${hash}` };
      return send(
        call,
        audit.chain(() => context.viewer),
        { ...jsonLines, headers },
      );
    },
  },
  {
    method: 'GET',
    path: '/admin/audit.csv',
    operationId: 'exportAuditCsv',
    tag: 'Audit',
    summary: 'Export the audit as CSV',
    description:
      'As the JSON lines; before and after are JSON. A cell that a spreadsheet would take for a formula begins with an apostrophe.',
    access: { permission: 'admin:audit:read' },
    parameters: filters,
    answers: {
      200: {
        description: 'A header and the entries.',
        schema: { type: 'string' },
        example: examples.auditCsv,
        contentType: 'text/csv',
      },
    },
    errors: [],
    partsAreUseless: true,
    handle: (call) => send(call, pagesOf(call), csv),
  },
];
