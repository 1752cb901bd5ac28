import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { inRoot } from './lib/workspace.mjs';

const pages = [
  ...readdirSync(inRoot()).filter((name) => name.endsWith('.md')),
  ...['docs', 'docs/decisions'].flatMap((folder) =>
    readdirSync(inRoot(folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];

/** @param {string} page */
const read = (page) => readFileSync(inRoot(page), 'utf8');

test.for(pages)('every link of %s leads to a file', (page) => {
  // Code is shown, not linked.
  const prose = read(page)
    .replace(/^```.*?^```$/gms, '')
    .replace(/`[^`\n]*`/g, '');
  const targets = [...prose.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map((match) => match[1]);
  const lost = targets.filter((target) => !existsSync(inRoot(path.dirname(page), target)));
  expect(lost).toEqual([]);
});

test('every variable that the server reads is described, and no other', () => {
  const environment = /const environment = z\.object\(\{(.*?)^\}\);/ms.exec(read('apps/api/src/config.ts'))?.[1] ?? '';
  const provider = /OIDC_VARIABLES = \{(.*?)^\};/ms.exec(read('apps/api/src/oidc-config.ts'))?.[1] ?? '';
  const known = [...`${environment}${provider}`.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map((match) => match[1]);
  const table = read('docs/configuration.md').split('## Files')[0];
  const described = [...table.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1]);
  expect(known.length).toBeGreaterThan(10);
  expect(described.toSorted()).toEqual(known.toSorted());
});

test('every error code is described, and no other', () => {
  const union = /export type ErrorCode =(.*?);/s.exec(read('packages/core/src/lib/errors.ts'))?.[1] ?? '';
  const codes = [...union.matchAll(/'([A-Z_]+)'/g)].map((match) => match[1]);
  const described = [...read('docs/errors.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1]);
  expect(codes.length).toBeGreaterThan(10);
  expect(described.toSorted()).toEqual(codes.toSorted());
});

test('every decision is listed', () => {
  const list = read('docs/decisions/README.md');
  const missing = pages.filter((page) => /decisions\/\d{4}-/.test(page) && !list.includes(path.basename(page)));
  expect(missing).toEqual([]);
});
