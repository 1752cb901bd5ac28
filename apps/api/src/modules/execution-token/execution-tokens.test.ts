import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ExecutionTokens } from './execution-tokens.ts';

const tokens = new ExecutionTokens(randomBytes(32));
const claim = { id: '0193f0a4b1c27d3e8f90a1b2c3d4e5f6', generation: 7, submittedBy: 'anna' };

describe('the token of an execution', () => {
  it('says which claim it is of, and is good for its submitter alone', () => {
    const token = tokens.sign(claim);
    const read = tokens.read(token);
    expect(read).toMatchObject({ id: claim.id, generation: 7 });
    expect([read?.isOf('anna'), read?.isOf('ann'), read?.isOf('')]).toEqual([true, false, false]);
    expect(token).not.toContain('anna');
    expect(Buffer.from(token.slice(4), 'base64url').includes('anna')).toBe(false);
  });

  it('is good for no other claim, whichever bit is changed', () => {
    const bytes = Buffer.from(tokens.sign(claim).slice(4), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const forged = Buffer.from(bytes);
      forged.writeUInt8(forged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(tokens.read(`msx_${forged.toString('base64url')}`)?.isOf('anna')).toBe(false);
    }
  });

  it('is not good under another key', () => {
    const read = new ExecutionTokens(randomBytes(32)).read(tokens.sign(claim));
    expect(read?.isOf('anna')).toBe(false);
  });

  it.each(['', 'msx_', 'mst_abc', `msx_${'A'.repeat(69)}`, `msx_${'A'.repeat(71)}`, `msx_${'!'.repeat(70)}`])(
    '%s is none',
    (text) => {
      expect(tokens.read(text)).toBeNull();
    },
  );
});
