import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the repository's root. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** Stamps, locks and other things that go with node_modules. */
export const cacheDir = path.join(root, 'node_modules/.cache/muster');

/** The command line interface, built: one bundle with the API, its assets beside it. */
export const bundleDir = path.join(root, 'packages/cli/dist');

/**
 * @param {...string} parts
 * @returns {string} an absolute path inside the repository
 */
export function inRoot(...parts) {
  return path.join(root, ...parts);
}

/**
 * @param {string} file path from the root
 * @returns {any} the parsed JSON file
 */
export function readJson(file) {
  return JSON.parse(readFileSync(inRoot(file), 'utf8'));
}

/**
 * The members of the workspace, as paths from the root, in the order of pnpm-workspace.yaml.
 * Only what that file uses is understood: plain folders and one star at the end.
 * @returns {string[]}
 */
export function workspaceMembers() {
  const text = readFileSync(inRoot('pnpm-workspace.yaml'), 'utf8');
  const list = /^packages:\n((?: +- .+\n)+)/m.exec(text)?.[1] ?? '';
  const patterns = [...list.matchAll(/- +['"]?([^'"\n]+)/g)].map((match) => match[1].trim());
  return patterns.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [pattern];
    const parent = pattern.slice(0, -2);
    const entries = readdirSync(inRoot(parent), { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${parent}/${entry.name}`)
      .sort();
  });
}
