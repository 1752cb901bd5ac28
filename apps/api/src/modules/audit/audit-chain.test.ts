import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ChainCheck, type ChainReport } from '@muster/core';
import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createExecutor } from '../../dispatch/statements/executor.ts';
import { LeadershipLostError } from '../../dispatch/statements/fence.ts';
import { AuditChainStore } from './audit-chain-store.ts';
import { recordOf } from './audit-row.ts';
import { AuditSealer } from './audit-sealer.ts';
import { writeEntry } from './testing/audit-bench.ts';

let database: TestDatabase;
let chain: AuditChainStore;
const session = { epoch: '7', holder: 'me' };
const MINUTE = 60_000;

beforeAll(async () => {
  database = await testDatabase();
  chain = new AuditChainStore(createExecutor(database));
});
afterAll(() => database.drop());
beforeEach(async () => {
  await unguarded(`DELETE FROM audit`, `UPDATE audit_head SET position = 0, hash = decode(repeat('00', 32), 'hex')`);
  await database.query(
    `UPDATE leadership SET epoch = 7, holder = 'me', expires_at = clock_timestamp() + interval '1 hour'`,
  );
});

const TRIGGERS = ['audit.audit_append_only', 'audit.audit_unsealed_first', 'audit_head.audit_head_forward'];
/** What somebody with the rights of the table's owner could do. */
async function unguarded(...statements: string[]): Promise<void> {
  const each = (verb: string) =>
    TRIGGERS.map((trigger) => `ALTER TABLE ${trigger.split('.')[0]} ${verb} TRIGGER ${trigger.split('.')[1]}`);
  for (const sql of [...each('DISABLE'), ...statements, ...each('ENABLE')]) await database.query(sql);
}

async function check(known: { position: number; hash: string }[] = []): Promise<ChainReport> {
  const following = new ChainCheck([await chain.head(), ...known]);
  for (const row of await chain.sealed(0, 10_000)) following.add(recordOf(row));
  for (const row of await chain.unsealed('0'.repeat(32), 10_000)) following.add(recordOf(row));
  return following.end();
}
const problems = async () =>
  (await check()).problems.map(({ code, position, id }) => `${code} ${position} ${id ?? 'nobody'}`);
async function sealed(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await writeEntry(database, { target: `deployment:d-${i}` }));
  await chain.seal(session);
  return ids.map((id) => `au_${id}`);
}

describe('sealing', () => {
  it('gives every entry its place, batch by batch, and a chain that holds', async () => {
    await Promise.all(Array.from({ length: 450 }, (_, i) => writeEntry(database, { target: `deployment:d-${i}` })));
    expect([
      await chain.seal(session),
      await chain.seal(session),
      await chain.seal(session),
      await chain.seal(session),
    ]).toEqual([200, 200, 50, 0]);
    expect(await check()).toMatchObject({ sealed: 450, unsealed: 0, problems: [] });
    const rows = await chain.sealed(0, 1_000);
    expect(rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).toSorted());
    expect((await chain.head()).hash).toBe(rows.at(-1)?.hash);
  });

  it('takes an entry that was committed later into a later batch, though it is older', async () => {
    const late = database.now() - 3_000;
    await sealed(2);
    const id = await writeEntry(database, { at: late });
    expect(await chain.seal(session)).toBe(1);
    expect((await chain.sealed(2, 10)).map((row) => row.id)).toEqual([id]);
    expect(await check()).toMatchObject({ sealed: 3, problems: [] });
  });

  it('is not for who does not lead (any more), and writes nothing then', async () => {
    await writeEntry(database);
    for (const wrong of [
      { epoch: '6', holder: 'me' },
      { epoch: '8', holder: 'me' },
      { epoch: '7', holder: 'you' },
    ]) {
      await expect(chain.seal(wrong)).rejects.toThrow(LeadershipLostError);
    }
    expect(await check()).toMatchObject({ sealed: 0, unsealed: 1, head: { position: 0 } });
  });

  it('of two at once is done once', async () => {
    await Promise.all(Array.from({ length: 30 }, () => writeEntry(database)));
    const done = await Promise.all([1, 2, 3, 4].map(() => chain.seal(session)));
    expect(done.filter((count) => count > 0)).toEqual([30]);
    expect(await check()).toMatchObject({ sealed: 30, problems: [] });
  });

  it('keeps nobody waiting who writes', async () => {
    // The embedded database is one session: there is nobody to wait for.
    if (database.kind !== 'postgres') return expect(database.kind).toBe('embedded');
    await writeEntry(database);
    const client = await database.direct();
    await client.query('BEGIN');
    await client.query('SELECT FROM audit FOR UPDATE');
    await client.query('SELECT FROM audit_head FOR UPDATE');
    expect(await writeEntry(database)).toHaveLength(32);
    await client.query('ROLLBACK');
    await client.end();
  });

  it('goes on by itself while it leads, survives a failure, and stops with the leadership', async () => {
    const lines: string[] = [];
    let leads = true;
    let fails = true;
    const sealer = new AuditSealer({
      chain: { seal: (leader) => (fails ? Promise.reject(new Error('gone')) : chain.seal(leader)) },
      session: () => (leads ? session : null),
      log: { error: (_what: unknown, text: string) => lines.push(text) } as never,
    });
    await Promise.all(Array.from({ length: 250 }, () => writeEntry(database)));
    await sealer.tick();
    expect(lines).toEqual(['audit entries could not be sealed; the next try follows']);
    fails = false;
    await sealer.tick();
    expect(await check()).toMatchObject({ sealed: 250, unsealed: 0 });
    leads = false;
    await writeEntry(database);
    await sealer.tick();
    expect(await check()).toMatchObject({ sealed: 250, unsealed: 1 });
    await sealer.close();
  });
});

describe('the database', () => {
  it('lets nobody change, delete, seal twice, put in sealed or move the head back', async () => {
    await sealed(2);
    for (const sql of [
      `UPDATE audit SET actor = 'bob'`,
      `UPDATE audit SET address = 'elsewhere'`,
      `UPDATE audit SET position = 9, hash = '\\x00'`,
      `UPDATE audit SET position = NULL, hash = NULL`,
      'DELETE FROM audit',
      'TRUNCATE audit',
      `INSERT INTO audit (id, at, actor, action, position, hash) VALUES (gen_random_uuid(), now(), 'x', 'y.z', 9, '\\x00')`,
      `UPDATE audit_head SET position = 1`,
      `UPDATE audit_head SET hash = decode(repeat('11', 32), 'hex')`,
      'DELETE FROM audit_head',
      'TRUNCATE audit_head',
    ]) {
      await expect(database.query(sql), sql).rejects.toThrow(/append-only|begins unsealed|only goes forward/);
    }
    await writeEntry(database);
    await expect(
      database.query(`UPDATE audit SET address = 'elsewhere', position = 3, hash = '\\x00' WHERE position IS NULL`),
    ).rejects.toThrow('append-only');
    expect(await check()).toMatchObject({ sealed: 2, unsealed: 1, problems: [] });
  });
});

describe('verification, where the guards were off', () => {
  it('finds what was changed in each column, and says which entry', async () => {
    const ids = await sealed(5);
    for (const change of [
      `actor = 'bob'`,
      `action = 'deployment.delete'`,
      `target = NULL`,
      `address = '203.0.113.9'`,
      `request_id = NULL`,
      `data = '{"before":null,"after":{"weight":2}}'`,
      `data = '{"before":{"weight":1},"after":{"weight":2.5}}'`,
      `at = at + interval '1 ms'`,
      `hash = decode(repeat('ab', 32), 'hex')`,
    ]) {
      await unguarded(
        `CREATE TABLE kept AS SELECT * FROM audit WHERE position = 3`,
        `UPDATE audit SET ${change} WHERE position = 3`,
      );
      expect((await problems()).slice(-1), change).toEqual([`TAMPERED 3 ${ids[2]}`]);
      await unguarded(
        `UPDATE audit a SET actor = k.actor, action = k.action, target = k.target, address = k.address, request_id = k.request_id, data = k.data, at = k.at, hash = k.hash FROM kept k WHERE a.id = k.id`,
        'DROP TABLE kept',
      );
      expect(await problems()).toEqual([]);
    }
  });

  it('finds what was deleted, in the midst and at the end', async () => {
    await sealed(5);
    await unguarded('DELETE FROM audit WHERE position = 2');
    expect(await problems()).toEqual(['MISSING 2 nobody']);
    await unguarded('DELETE FROM audit WHERE position = 5');
    expect(await problems()).toEqual(['MISSING 2 nobody', 'MISSING 5 nobody']);
  });

  it('finds what was put in: with a seal of its own, in the place of another, and with a time of long ago', async () => {
    await writeEntry(database, { at: database.now() - 60 * MINUTE });
    const ids = await sealed(3);
    const forged = await writeEntry(database);
    await unguarded(`UPDATE audit SET position = 5, hash = decode(repeat('cd', 32), 'hex') WHERE id = '${forged}'`);
    expect(await problems()).toEqual([`TAMPERED 5 au_${forged}`]);
    await unguarded('DELETE FROM audit WHERE position = 3', `UPDATE audit SET position = 3 WHERE id = '${forged}'`);
    expect(await problems()).toContain(`TAMPERED 3 au_${forged}`);
    await unguarded(`DELETE FROM audit WHERE id = '${forged}'`);
    const old = await writeEntry(database, { at: database.now() - 30 * MINUTE });
    expect(await problems()).toContain(`BACKDATED null au_${old}`);
    expect(ids).toHaveLength(3);
  });

  it('finds what was put in another order', async () => {
    const ids = await sealed(5);
    await unguarded(
      `UPDATE audit SET position = 100 WHERE position = 2`,
      `UPDATE audit SET position = 2 WHERE position = 4`,
      `UPDATE audit SET position = 4 WHERE position = 100`,
    );
    const found = await problems();
    expect(found).toContain(`TAMPERED 2 ${ids[3]}`);
    expect(found).toContain(`TAMPERED 4 ${ids[1]}`);
  });

  it('finds by a head that was kept elsewhere that the end is gone, and the head with it', async () => {
    await sealed(5);
    const kept = await chain.head();
    const [fourth] = await chain.sealed(3, 1);
    await unguarded(
      'DELETE FROM audit WHERE position = 5',
      `UPDATE audit_head SET position = 4, hash = decode('${fourth?.hash}', 'hex')`,
    );
    expect((await check()).problems).toEqual([]);
    expect((await check([kept])).problems.map(({ code, position }) => `${code} ${position}`)).toEqual(['MISSING 5']);
  });
});

/** By what docs/audit.md says alone: SQL for the rows, Node's own SHA-256, and a canonical form of its own. */
function independently(value: unknown): string {
  if (Array.isArray(value)) return '[' + value.map((one) => independently(one)).join() + ']';
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return '{' + keys.map((key) => JSON.stringify(key) + ':' + independently((value as never)[key])).join() + '}';
}

describe('another program', () => {
  it('finds the example of the documentation right', () => {
    const page = readFileSync(new URL('../../../../../docs/audit.md', import.meta.url), 'utf8');
    const blocks = [...page.matchAll(/```text\n([^`]*)\n```/g)].map(([, text]) => text ?? '');
    const at = blocks.findIndex((text) => text.startsWith('muster-audit-1\n000'));
    expect(
      createHash('sha256')
        .update(blocks[at] ?? '', 'utf8')
        .digest('hex'),
    ).toBe(blocks[at + 1]);
  });

  it('comes to the same hashes by the documentation alone', async () => {
    await writeEntry(database, {
      data: { before: null, after: { text: 'Grüße\u2028"\\', list: [1.5, 1e21, -0, true], b: {}, a: null } },
    });
    await writeEntry(database, { data: { revision: 3, before: [1], after: [2], comment: null } });
    await writeEntry(database, { data: {} });
    await sealed(3);
    const { rows } = await database.query<
      Record<string, string | number | null> & { at: Date; data: { before?: unknown; after?: unknown } }
    >(
      `SELECT replace(id::text, '-', '') AS id, at, actor, action, target, address, request_id, data, position, encode(hash, 'hex') AS hash FROM audit ORDER BY position`,
    );
    let previous = '0'.repeat(64);
    for (const { id, at, actor, action, target, address, request_id: requestId, data, position, hash } of rows) {
      const { before = null, ...rest } = data;
      const left = Object.keys(rest);
      const after = left.length === 0 ? null : left.join() === 'after' ? rest.after : rest;
      const entry = { id: `au_${id}`, at: at.toISOString(), actor, action, target, address, requestId, before, after };
      const text = ['muster-audit-1', previous, String(position), independently(entry)].join('\n');
      previous = createHash('sha256').update(Buffer.from(text, 'utf8')).digest('hex');
      expect(hash).toBe(previous);
    }
    expect(rows).toHaveLength(6);
  });
});
