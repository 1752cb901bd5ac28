import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EXCEPTIONS, installedPackages, isAllowed } from './lib/licences.mjs';
import { inRoot, readJson, workspaceMembers } from './lib/workspace.mjs';

const lock = readFileSync(inRoot('pnpm-lock.yaml'), 'utf8');
const workspace = readFileSync(inRoot('pnpm-workspace.yaml'), 'utf8');
const docs = readFileSync(inRoot('docs/supply-chain.md'), 'utf8');

/** Every package of the lock file with its resolution. */
function locked() {
  return [...lock.matchAll(/^ {2}'?([^\s':][^':]*)'?:\n {4}resolution: (.*)$/gm)].map(
    ([, name = '', resolution = '']) => ({ name, resolution }),
  );
}

test('the lock file has a sound hash for every package, and no place of its own to fetch one from', () => {
  const packages = locked();
  expect(packages.length).toBeGreaterThan(300);
  expect(packages.length).toBe([...lock.matchAll(/^ {4}resolution: /gm)].length);
  const unsound = packages.filter(({ resolution }) => !/^\{integrity: sha512-[A-Za-z0-9+/]{86}==\}$/.test(resolution));
  expect(unsound).toEqual([]);
  expect(lock).not.toMatch(/https?:\/\/|git\+|tarball:/);
});

test('every version that we ask for is exact', () => {
  const loose = ['.', ...workspaceMembers()].flatMap((member) => {
    const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = readJson(`${member}/package.json`);
    return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .filter(([, version]) => !/^(?:\d+\.\d+\.\d+[\w.-]*|catalog:|workspace:\*)$/.test(String(version)))
      .map(([name]) => `${member}: ${name}`);
  });
  expect(loose).toEqual([]);
  const catalog = workspace.split(/^catalog:$/m)[1]?.split(/^\S/m)[0] ?? '';
  const versions = [...catalog.matchAll(/^ {2}\S+: (\S+)$/gm)].map((match) => match[1] ?? '');
  expect(versions.length).toBeGreaterThan(5);
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+[\w.-]*$/.test(version))).toEqual([]);
});

test('install scripts run for those alone that are named, each with its reason', () => {
  const builds = [...(workspace.split(/^allowBuilds:$/m)[1] ?? '').matchAll(/^ {2}"?([^\s":]+)"?: (true|false)$/gm)];
  const allowed = builds.filter(([, , may]) => may === 'true').map((match) => match[1]);
  expect(allowed).toEqual(['esbuild']);
  for (const name of allowed) expect(docs).toContain(`\`${name}\``);
});

test('every licence lets the product be what our own says', () => {
  const installed = installedPackages();
  expect(installed.length).toBeGreaterThan(300);
  expect(installed.filter((item) => !isAllowed(item))).toEqual([]);
  // Those are no exception.
  expect(
    [
      'GPL-3.0',
      'AGPL-3.0-only',
      'LGPL-2.1',
      'UNLICENSED',
      'unknown',
      'SEE LICENSE IN x',
      'GPL-3.0 AND MIT',
      'MPL-2.0',
    ].filter((licence) => isAllowed({ name: 'x', version: '1', licence })),
  ).toEqual([]);
  expect(
    ['MIT', '(MIT OR GPL-3.0)', 'MIT and ISC'].filter((licence) => isAllowed({ name: 'x', version: '1', licence })),
  ).toHaveLength(3);
});

test('every exception is described, and no other', () => {
  const described = [...docs.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]);
  expect(described.toSorted()).toEqual([...EXCEPTIONS.keys()].toSorted());
});
