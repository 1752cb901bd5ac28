import { createServer, type RequestListener } from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealHash, type SealedRecord } from '@muster/core';
import { afterEach, describe, expect, test } from 'vitest';
import { answeringServer } from '../testing/answering-server.ts';
import { runCommand } from '../testing/run-command.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A server of the REST routes alone. */
async function rest(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const START = Date.UTC(2026, 10, 30);
function chainOf(count: number): SealedRecord[] {
  let hash = '0'.repeat(64);
  return Array.from({ length: count }, (_, i) => {
    const time = START + i;
    const record = {
      id: `au_${time.toString(16).padStart(12, '0')}${'7'.padEnd(20, '0')}`,
      at: new Date(time).toISOString(),
      actor: 'anna',
      action: 'worker.cordon',
      target: `worker:w-${i}`,
      address: '192.0.2.7',
      requestId: null,
      before: { availability: 'ACTIVE' },
      after: { availability: 'CORDONED' },
    };
    hash = sealHash(hash, i + 1, record);
    return { ...record, position: i + 1, hash };
  });
}
const endOf = (chain: readonly SealedRecord[]): string => `${chain.length}:${chain.at(-1)?.hash}`;
const served = (entries: readonly SealedRecord[], head: string) =>
  rest((request, response) => {
    expect(request.url).toBe('/admin/audit.jsonl?order=position');
    expect(request.headers.authorization).toBe('Bearer t');
    response.setHeader('x-muster-audit-head', head);
    // In pieces that end anywhere.
    const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    for (let at = 0; at < text.length; at += 700) response.write(text.slice(at, at + 700));
    response.end();
  });

describe('audit list', () => {
  test('shows who did what from where, and asks for what was asked', async () => {
    const [entry] = chainOf(1);
    const nodes = [
      { ...entry, sealed: true },
      { ...entry, address: null, target: null, before: null, sealed: false },
    ];
    const server = await answeringServer({
      AuditList: { data: { auditEntries: { nodes, pageInfo: { hasNextPage: false, endCursor: null } } } },
    });
    cleanups.push(() => server.close());
    const args = [
      'audit',
      'list',
      '--actor',
      'anna',
      '--action',
      'worker.',
      '--after',
      '2026-01-01T00:00:00Z',
      '--limit',
      '7',
    ];
    const { code, out } = await runCommand(args, { url: server.url, columns: 300 });
    expect(code).toBe(0);
    expect(out.split('\n')[1]).toMatch(
      /2026-11-30T00:00:00\.000Z +anna +192\.0\.2\.7 +worker\.cordon +worker:w-0 +\{"availability":"ACTIVE"\} → \{"availability":"CORDONED"\}/,
    );
    expect(out.split('\n')[2]).toMatch(/anna +server +worker\.cordon +– → /);
    expect(server.received[0]?.variables).toEqual({
      first: 7,
      after: null,
      filter: { actor: 'anna', action: 'worker.', target: null, after: '2026-01-01T00:00:00Z', before: null },
    });
    expect((await runCommand(['audit', 'list', '--limit', '0'], { url: server.url })).code).toBe(2);
  });
});

describe('audit export', () => {
  test('prints what arrives, or writes it to a file as it is', async () => {
    const text = 'id,at\r\n1,"two\nlines"\r\n';
    const url = await rest((request, response) => {
      expect(request.url).toBe('/admin/audit.csv?actor=anna');
      response.end(text);
    });
    const args = ['audit', 'export', '--format', 'csv', '--actor', 'anna'];
    expect(await runCommand(args, { url })).toEqual({ code: 0, out: text.slice(0, -1), err: '' });
    const dir = mkdtempSync(join(tmpdir(), 'muster-export-'));
    cleanups.push(() => rmSync(dir, { recursive: true }));
    expect((await runCommand([...args, '-o', 'all.csv'], { url, cwd: dir })).code).toBe(0);
    expect(readFileSync(join(dir, 'all.csv'), 'utf8')).toBe(text);
  });

  test('says that a part is not the whole, and what the server refuses', async () => {
    const broken = await rest((_request, response) => {
      response.write('{"id":1}\n{"id"');
      setImmediate(() => response.destroy());
    });
    const cut = await runCommand(['audit', 'export'], { url: broken });
    expect([cut.code, cut.err]).toEqual([5, expect.stringContaining('is not complete')]);
    const denied = await rest((_request, response) => {
      response
        .writeHead(403)
        .end('{"error":{"code":"FORBIDDEN","message":"This takes the permission admin:audit:read."}}');
    });
    const refused = await runCommand(['audit', 'export'], { url: denied });
    expect(refused).toEqual({ code: 4, out: '', err: 'This takes the permission admin:audit:read.' });
    expect((await runCommand(['audit', 'export', '--format', 'xml'], { url: denied })).code).toBe(2);
    expect((await runCommand(['audit', 'export'], { url: 'http://127.0.0.1:1' })).code).toBe(5);
  });
});

describe('audit verify', () => {
  test('follows the chain and prints its end', async () => {
    const chain = chainOf(40);
    const url = await served(chain, endOf(chain));
    const { code, out } = await runCommand(['audit', 'verify'], { url });
    expect([code, out]).toEqual([0, `The chain holds: 40 sealed, 0 not sealed yet. Its end: ${endOf(chain)}`]);
    const earlier = endOf(chain.slice(0, 7));
    expect((await runCommand(['audit', 'verify', '--known', earlier, '--known', endOf(chain)], { url })).code).toBe(0);
    expect(JSON.parse((await runCommand(['audit', 'verify', '--json'], { url })).out)).toMatchObject({
      sealed: 40,
      problems: [],
    });
  });

  test('exits 1 and says which entry was changed, is missing, or was known by another hash', async () => {
    const chain = chainOf(9);
    const changed = chain.with(4, { ...(chain[4] as SealedRecord), actor: 'bob' }).toSpliced(6, 1);
    const { code, out } = await runCommand(['audit', 'verify'], { url: await served(changed, endOf(chain)) });
    expect([code, out.split('\n').slice(0, 2)]).toEqual([
      1,
      [
        `TAMPERED  position 5, ${chain[4]?.id}: does not fit its hash: it, its hash or its place was changed`,
        'MISSING  position 7: position 7 is missing',
      ],
    ]);
    const url = await served(chain, endOf(chain));
    const known = `3:${'ab'.repeat(32)}`;
    expect((await runCommand(['audit', 'verify', '--known', known], { url })).out).toContain('HEAD  position 3');
    expect((await runCommand(['audit', 'verify', '--known', '3:x'], { url })).code).toBe(2);
  });

  test('proves nothing where the answer breaks off', async () => {
    const chain = chainOf(3);
    const url = await rest((_request, response) => {
      response.setHeader('x-muster-audit-head', endOf(chain));
      response.write(`${JSON.stringify(chain[0])}\n`);
      setImmediate(() => response.destroy());
    });
    expect((await runCommand(['audit', 'verify'], { url })).code).toBe(5);
    const old = await rest((_request, response) => response.end(''));
    expect((await runCommand(['audit', 'verify'], { url: old })).code).toBe(1);
  });
});
