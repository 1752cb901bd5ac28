import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AuditRecord, CHAIN_START, canonicalRecord, sealHash } from './chain.ts';
import { ChainCheck, type ChainHead, type SealedRecord } from './chain-check.ts';

const START = Date.UTC(2026, 10, 30, 12);

function record(n: number, more: Partial<AuditRecord> = {}, ms = n * 1_000): AuditRecord {
  const time = START + ms;
  return {
    id: `au_${time.toString(16).padStart(12, '0')}7000${'8'.padEnd(16, String(n % 10))}`,
    at: new Date(time).toISOString(),
    actor: 'anna',
    action: 'deployment.update',
    target: `deployment:d-${n}`,
    address: '192.0.2.1',
    requestId: `rq-${n}`,
    before: { weight: n },
    after: { weight: n + 1 },
    ...more,
  };
}

function seal(records: readonly AuditRecord[]): SealedRecord[] {
  let hash = CHAIN_START;
  return records.map((one, i) => {
    hash = sealHash(hash, i + 1, one);
    return { ...one, position: i + 1, hash };
  });
}

const headOf = (chain: readonly SealedRecord[]): ChainHead => ({
  position: chain.at(-1)?.position ?? 0,
  hash: chain.at(-1)?.hash ?? CHAIN_START,
});

function check(entries: readonly SealedRecord[], known: readonly ChainHead[] = []) {
  const following = new ChainCheck(known);
  for (const entry of entries) following.add(entry);
  return following.end();
}
const found = (entries: readonly SealedRecord[], known: readonly ChainHead[] = []) =>
  check(entries, known).problems.map(({ code, position }) => `${code} ${position}`);

const chain = seal([0, 1, 2, 3, 4, 5, 6, 7].map((n) => record(n)));
const head = headOf(chain);

describe('the bytes of an entry', () => {
  it('are its members in the order of their names, without spaces, texts and numbers as ECMAScript writes them', () => {
    const odd = record(0, {
      target: null,
      before: { b: [1e21, -0, 0.1], a: 'é\n"\u2028', '10': null, '9': true },
      after: null,
    });
    expect(canonicalRecord(odd)).toBe(
      `{"action":"deployment.update","actor":"anna","address":"192.0.2.1","after":null,"at":"2026-11-30T12:00:00.000Z",` +
        `"before":{"10":null,"9":true,"a":"é\\n\\"\u2028","b":[1e+21,0,0.1]},"id":"${odd.id}","requestId":"rq-0","target":null}`,
    );
  });

  it('are hashed with the hash before it and its position', () => {
    // By another implementation of SHA-256, over `muster-audit-1`, 64 zeros, 1 and the entry, a line each.
    expect(sealHash(CHAIN_START, 1, record(3))).toBe(
      '53745ac1ba780ed3f43ed3729ebdc91b7aa2a662d61f7405a924df57ef0f8bc1',
    );
  });

  it('do not depend on the order in which members were written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalRecord(record(0, { before: value as never }));
        expect(canonicalRecord(JSON.parse(text) as AuditRecord)).toBe(text);
      }),
    );
  });
});

describe('a chain', () => {
  it('that nobody touched has no problem', () => {
    expect(check(chain, [head])).toEqual({ sealed: 8, unsealed: 0, head, problems: [], problemCount: 0 });
    expect(check([])).toMatchObject({ sealed: 0, head: { position: 0, hash: CHAIN_START }, problems: [] });
  });

  it.each<[string, Partial<SealedRecord>]>([
    ['actor', { actor: 'bob' }],
    ['action', { action: 'x.y' }],
    ['target', { target: null }],
    ['address', { address: null }],
    ['requestId', { requestId: 'rq' }],
    ['before', { before: null }],
    ['after', { after: { weight: 4.5 } }],
    ['hash', { hash: 'ab'.repeat(32) }],
  ])('shows the entry whose %s was changed, and no other', (_what, change) => {
    const entries = chain.with(3, { ...(chain[3] as SealedRecord), ...change });
    expect(found(entries, [head])).toEqual(['TAMPERED 4']);
    expect(check(entries).problems[0]?.id).toBe(chain[3]?.id);
  });

  it('shows an entry whose time or id was changed', () => {
    const other = record(9);
    expect(found(chain.with(3, { ...(chain[3] as SealedRecord), at: other.at }))).toContain('TAMPERED 4');
    expect(found(chain.with(3, { ...(chain[3] as SealedRecord), id: other.id }))).toContain('TAMPERED 4');
  });

  it('shows what was taken out: first, in the midst, last', () => {
    expect(found(chain.slice(1), [head])).toEqual(['MISSING 1']);
    expect(found(chain.toSpliced(3, 1), [head])).toEqual(['MISSING 4']);
    expect(check(chain.toSpliced(2, 3), [head]).problems[0]?.message).toBe('positions 3 to 5 are missing');
    expect(found(chain.slice(0, -2), [head])).toEqual(['MISSING 7']);
    expect(found([], [head])).toEqual(['MISSING 1']);
  });

  it('shows what was taken out where the rest moved up', () => {
    const moved = chain.toSpliced(3, 1).map((entry, i) => ({ ...entry, position: i + 1 }));
    expect(found(moved, [head])[0]).toBe('TAMPERED 4');
    expect(found(moved, [head]).at(-1)).toBe('MISSING 8');
  });

  it('shows what was put in: in the place of another, or at the end', () => {
    const twice = chain.toSpliced(4, 0, { ...record(40), position: 4, hash: 'cd'.repeat(32) });
    expect(found(twice)).toEqual(['OUT_OF_ORDER 4']);
    expect(found([...chain, { ...record(9), position: 9, hash: 'cd'.repeat(32) }])).toEqual(['TAMPERED 9']);
  });

  it('shows two that changed places', () => {
    const [a, b] = [chain[2] as SealedRecord, chain[5] as SealedRecord];
    const swapped = chain
      .with(2, { ...b, position: a.position, hash: a.hash })
      .with(5, { ...a, position: b.position, hash: b.hash });
    expect(found(swapped, [head])).toEqual(['TAMPERED 3', 'TAMPERED 6']);
  });

  it('shows by a head that was kept elsewhere that it was written anew', () => {
    const forged = seal([0, 1, 2, 3, 4, 5, 6, 7].map((n) => record(n, n === 3 ? { actor: 'bob' } : {})));
    expect(found(forged, [headOf(forged)])).toEqual([]);
    expect(found(forged, [headOf(forged), { position: 5, hash: chain[4]?.hash ?? '' }])).toEqual(['HEAD 5']);
  });

  it('takes entries that were written later than newer ones, by seconds and not by hours', () => {
    const late = seal([record(0), record(500), record(2)]);
    expect(found(late)).toEqual([]);
    const old = { ...record(1, {}, 1_000), position: null, hash: null };
    const newer = seal([record(0), record(1_000)]);
    expect(found([...newer, old])).toEqual(['BACKDATED null']);
    expect(found(seal([record(0), record(1_000), record(2)]))).toEqual(['BACKDATED 3']);
  });

  it('counts what is not sealed yet', () => {
    const open = { ...record(8), position: null, hash: null };
    expect(check([...chain, open], [head])).toMatchObject({ sealed: 8, unsealed: 1, problems: [] });
  });

  it('keeps the first hundred problems and counts them all', () => {
    const long = seal(Array.from({ length: 300 }, (_, n) => record(n)));
    const report = check(long.map((entry) => ({ ...entry, actor: 'bob' })));
    expect(report.problems).toHaveLength(100);
    expect(report.problemCount).toBe(300);
  });
});
