import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testIo } from '../testing/test-io.ts';
import { parseInput, parsePairs, parseWhole } from './parse-arguments.ts';

describe('key=value options', () => {
  test('are split at the first "=", values stay as they are', () => {
    expect(parsePairs(['a=1', 'b=x=y', 'c=', ' d = v '], '-r')).toEqual({ a: '1', b: 'x=y', c: '', d: ' v ' });
  });

  test.each([[['novalue']], [['=v']], [['  =v']]])('%j is refused', (pairs) => {
    expect(() => parsePairs(pairs, '--label')).toThrow('--label takes key=value');
  });

  test('a key given twice is refused, and its values are not shown', () => {
    expect(() => parsePairs(['k=s3cret', 'k=s3cret2'], '-r')).toThrow(/^-r gives "k" twice\.$/);
  });

  test('keys such as __proto__ are just keys', () => {
    expect(Object.entries(parsePairs(['__proto__=x'], '-r'))).toEqual([['__proto__', 'x']]);
  });
});

describe('INPUT', () => {
  test('is JSON, a file or stdin; absent it is none', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'muster-cli-'));
    try {
      writeFileSync(join(dir, 'in.json'), '[1]');
      expect(await parseInput('{"a": null}', testIo())).toEqual({ a: null });
      expect(await parseInput('@in.json', testIo({ cwd: dir }))).toEqual([1]);
      expect(await parseInput('-', testIo({ stdin: '"x"' }))).toBe('x');
      expect(await parseInput(undefined, testIo())).toBeUndefined();
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test('anything else is a usage error that says how to write it', async () => {
    await expect(parseInput('hello', testIo())).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('INPUT is not JSON'),
    });
    await expect(parseInput('@nothing.json', testIo())).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('nothing.json'),
    });
  });
});

test('whole numbers within bounds', () => {
  expect(parseWhole('-5', '--priority', -1_000, 1_000)).toBe(-5);
  for (const text of ['', '1.5', '1e3', '0x10', ' 5', '1001', 'NaN']) {
    expect(() => parseWhole(text, '--priority', -1_000, 1_000)).toThrow(
      '--priority must be a whole number from -1000 to 1000.',
    );
  }
});
