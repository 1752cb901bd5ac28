import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inRoot } from './lib/workspace.mjs';

/** The tests that SECURITY.md names: file and a part of the title. */
const named = [
  ...readFileSync(inRoot('SECURITY.md'), 'utf8').matchAll(/\| `([^`]+\.test\.m?ts|[^`]+\.mjs)` › (.+) \|$/gm),
].map(([, file = '', title = '']) => ({ file, title }));

test('every line of the threat model names a test', () => {
  const lines = readFileSync(inRoot('SECURITY.md'), 'utf8').match(/^\| (?!what (?:he|it) tries)(?!-)[^|]+\|/gm) ?? [];
  expect(lines.filter((line) => !line.startsWith('|---')).length).toBe(named.length);
  expect(named.length).toBeGreaterThan(25);
});

test.for(named)('$file has the test: $title', ({ file, title }) => {
  expect(existsSync(inRoot(file))).toBe(true);
  const titles = [
    ...readFileSync(inRoot(file), 'utf8').matchAll(/^\s*(?:[`']|(?:it|test)(?:\.\w+)?\(\s*[`'])(.*)[`'],/gm),
  ].map((match) => match[1] ?? '');
  expect(titles.filter((text) => text.includes(title))).not.toEqual([]);
});
