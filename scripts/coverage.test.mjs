import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inRoot } from './lib/workspace.mjs';

/** @typedef {{ feature: string, proofs: { file: string, title: string }[], gap: boolean }} Row */

const page = readFileSync(inRoot('docs/coverage.md'), 'utf8');

/** @type {Row[]} */
const rows = page
  .split('\n')
  .map((line) => /^\| (?<feature>.*?) \| (?<shown>.*) \|$/.exec(line)?.groups)
  .filter((row) => row !== undefined && row['feature'] !== 'feature')
  .map((row) => ({
    feature: row?.['feature'] ?? '',
    proofs: [...(row?.['shown'] ?? '').matchAll(/`([^`]+)` › “([^”]+)”/g)].map(([, file = '', title = '']) => ({
      file,
      title,
    })),
    gap: (row?.['shown'] ?? '').includes('**gap**: '),
  }));

/**
 * Whether a test or a group of tests has the title, as it stands in the source.
 *
 * @param {string} source
 * @param {string} title
 */
function hasTitle(source, title) {
  const written = [`'${title.replaceAll("'", String.raw`\'`)}'`, `"${title}"`, `\`${title}\``];
  return written.some((literal) =>
    source
      .split(literal)
      .slice(0, -1)
      .some((before) => /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*$/.test(before)),
  );
}

test('every feature is shown by a test, or marked as a gap', () => {
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.filter(({ proofs, gap }) => proofs.length === 0 && !gap).map(({ feature }) => feature)).toEqual([]);
  expect(new Set(rows.map(({ feature }) => feature)).size).toBe(rows.length);
});

test('every test that is named is there', () => {
  /** @type {Map<string, string | null>} */
  const sources = new Map();
  const lost = rows.flatMap(({ proofs }) =>
    proofs.filter(({ file, title }) => {
      if (!sources.has(file)) sources.set(file, existsSync(inRoot(file)) ? readFileSync(inRoot(file), 'utf8') : null);
      const source = sources.get(file);
      return source == null || !hasTitle(source, title);
    }),
  );
  expect(lost).toEqual([]);
});

test('a title that is gone would be found', () => {
  const source = "it.each([[1]])('adds %i', () => {}); test('it is \\'fine\\'', () => {}); const x = 'no test';";
  expect([hasTitle(source, 'adds %i'), hasTitle(source, "it is 'fine'")]).toEqual([true, true]);
  expect([hasTitle(source, 'adds'), hasTitle(source, 'no test'), hasTitle(source, 'adds %i again')]).toEqual([
    false,
    false,
    false,
  ]);
});
