import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { ChainCheck, type SealedRecord } from '@muster/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeEntry } from '../../modules/audit/testing/audit-bench.ts';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';
import { restClient, type Send } from './testing/rest-client.ts';

let app: TestApp;
let send: Send;
const ODD = ['=cmd|calc', '+1', '-1', '@SUM(A1)', '\tx', 'a "quoted", cell', 'two\nlines', ' spaced ', 'plain'];

beforeAll(async () => {
  app = await startTestApp();
  send = restClient(app);
  for (const [i, target] of ODD.entries()) {
    const data = { before: null, after: i === 0 ? '=1+1' : { n: i, text: 'é"\n' } };
    await writeEntry(app.plane.database as never, {
      actor: `actor-${i % 2}`,
      action: `odd.${i < 5 ? 'low' : 'high'}`,
      target,
      data,
    });
  }
});
afterAll(() => app.close());

const lines = async (query = ''): Promise<SealedRecord[]> => {
  const { status, text, headers } = await send('GET', `/admin/audit.jsonl${query}`);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as SealedRecord);
};

/** By RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === '\r\n') rows.push([]);
  }
  return rows.filter((row) => row.length > 0);
}

describe('GET /admin/audit.jsonl', () => {
  it('has every entry that fits, oldest first', async () => {
    const all = await lines('?action=odd.');
    expect(all.map(({ target }) => target)).toEqual(ODD);
    expect(all[1]).toEqual({
      id: expect.stringMatching(/^au_[0-9a-f]{32}$/),
      at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      actor: 'actor-1',
      action: 'odd.low',
      target: '+1',
      address: '192.0.2.1',
      requestId: 'rq',
      before: null,
      after: { n: 1, text: 'é"\n' },
      position: all[1]?.position,
      hash: all[1]?.hash,
    });
    expect((await lines('?actor=actor-1&action=odd.high')).map(({ target }) => target)).toEqual([ODD[5], ODD[7]]);
    expect((await lines(`?target=${encodeURIComponent('@SUM(A1)')}`)).length).toBe(1);
    expect(await lines(`?after=${all[8]?.at.replace('Z', '%2B00:00')}&before=2000-01-01T00:00:00Z`)).toEqual([]);
    expect(await lines('?actor=%00')).toEqual([]);
  });

  it('is refused for what it cannot read', async () => {
    for (const [query, field] of [
      ['?after=yesterday', 'after'],
      ['?before=2026-13-01T00:00:00Z', 'before'],
      ['?order=random', 'order'],
      ['?order=position&actor=anna', 'order'],
      ['?actor=a&actor=b', 'actor'],
    ]) {
      const { status, body } = await send('GET', `/admin/audit.jsonl${query}`);
      expect([query, status, body.error.field ?? body.error.issues?.[0]?.path]).toEqual([query, 400, field]);
    }
    expect((await send('GET', '/admin/audit.jsonl', { token: null })).status).toBe(401);
    expect((await send('HEAD', '/admin/audit.jsonl')).status).toBe(200);
    expect((await send('POST', '/admin/audit.jsonl')).status).toBe(405);
  });

  it('in the order of the chain can be verified by whoever reads it', async () => {
    await until(async () => (await lines('?order=position')).every(({ position }) => position !== null), 'the seals');
    const { text, headers } = await send('GET', '/admin/audit.jsonl?order=position');
    const [position, hash] = String(headers['x-muster-audit-head']).split(':');
    const check = new ChainCheck([{ position: Number(position), hash: hash ?? '' }]);
    for (const line of text.split('\n').filter(Boolean)) check.add(JSON.parse(line) as SealedRecord);
    expect(check.end()).toMatchObject({ sealed: ODD.length, unsealed: 0, problems: [] });
  });
});

describe('GET /admin/audit.csv', () => {
  it('can be opened by a spreadsheet, which runs nothing of it', async () => {
    const { text, headers } = await send('GET', '/admin/audit.csv?action=odd.');
    expect(headers['content-disposition']).toBe('attachment; filename="muster-audit.csv"');
    const [names, ...rows] = parseCsv(text);
    expect(names?.join()).toBe('id,at,actor,action,target,address,requestId,before,after,position,hash');
    expect(rows.map((row) => row[4])).toEqual(ODD.map((target) => (/^[=+\-@\t]/.test(target) ? `'${target}` : target)));
    expect(rows.map((row) => row.length)).toEqual(ODD.map(() => 11));
    expect(rows[0]?.[8]).toBe("'=1+1");
    expect(JSON.parse(rows[1]?.[8] ?? '')).toEqual({ n: 1, text: 'é"\n' });
  });
});

describe('auditEntries', () => {
  it('has the same entries, newest first, and each as a node', async () => {
    const page = (more: string) =>
      app.ask(
        `{ auditEntries(first: 4, filter: { action: "odd." }${more}) { totalCount totalCountExact pageInfo { hasNextPage endCursor } nodes { id target sealed } } }`,
      );
    const { auditEntries: first } = await page('');
    const { auditEntries: next } = await page(`, after: "${first.pageInfo.endCursor}"`);
    expect([first.totalCount, first.totalCountExact, first.pageInfo.hasNextPage]).toEqual([ODD.length, true, true]);
    expect([...first.nodes, ...next.nodes].map(({ target }) => target)).toEqual(ODD.toReversed().slice(0, 8));
    const [{ id }] = first.nodes;
    const { node, none } = await app.ask(
      `{ node(id: "${id}") { ... on AuditEntry { id target before } } none: node(id: "au_${'0'.repeat(32)}") { id } }`,
    );
    expect([node, none]).toEqual([{ id, target: 'plain', before: null }, null]);
    const { auditEntries: nothing } = await app.ask(
      '{ auditEntries(filter: { actor: "\\u0000" }) { totalCount nodes { id } } }',
    );
    expect(nothing).toEqual({ totalCount: 0, nodes: [] });
  });
});

describe('a large export', () => {
  it('is read page by page, as fast as it is taken, and breaks off where the reader may not any more', async () => {
    const big = { before: null, after: 'x'.repeat(500_000) };
    for (let i = 0; i < 80; i += 1) await writeEntry(app.plane.database as never, { action: 'big.thing', data: big });
    const { run } = app.plane.executor;
    let statements = 0;
    app.plane.executor.run = (statement, values) => {
      if (statement.text.includes('FROM audit')) statements += 1;
      return run.call(app.plane.executor, statement, values) as never;
    };
    const { hostname, port } = new URL(app.url);
    const call = request({
      hostname,
      port,
      path: '/admin/audit.jsonl?action=big.',
      headers: { authorization: `Bearer ${app.adminToken}` },
    });
    call.end();
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    await once(response, 'readable');
    // 40 MB lie ready, a page has 8, and nobody reads: while others are served, this one waits.
    await until(() => statements >= 2, 'the first page');
    for (let i = 0; i < 50; i += 1) await fetch(`${app.url}/healthz`);
    expect(statements).toBeLessThan(8);
    let size = 0;
    for await (const chunk of response) size += (chunk as Buffer).length;
    expect(size).toBeGreaterThan(80 * 500_000);
    expect(response.complete).toBe(true);
    app.plane.executor.run = run;
  });
});
