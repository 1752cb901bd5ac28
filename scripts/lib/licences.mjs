// Which licence each dependency has, by what is installed.
import { readdirSync, readFileSync } from 'node:fs';
import { inRoot } from './workspace.mjs';

/** Whoever gets the product may do with it what our own licence says, and has to do no more than to keep a notice. */
const FREE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
  // Fonts.
  'OFL-1.1',
]);

/** Tools that build or test and reach nobody: package, and why its licence is no matter. */
export const EXCEPTIONS = new Map([
  ['@axe-core/playwright', 'MPL-2.0: looks for faults in the browser tests, unchanged'],
  ['argparse', 'Python-2.0: reads YAML for tools of the build'],
  ['axe-core', 'MPL-2.0: looks for faults in the browser tests, unchanged'],
  ['caniuse-lite', 'CC-BY-4.0: a table of browsers for tools of the build'],
  ['elkjs', 'EPL-2.0: part of a tool that is not run'],
  ['lightningcss', 'MPL-2.0: minifies the style sheets when the admin app is built, unchanged'],
  ['seq-queue', 'MIT by its LICENSE file, which its package.json does not say'],
  ['lightningcss-*', 'MPL-2.0: the same, for one machine'],
]);

/**
 * @typedef {{ name: string, version: string, licence: string }} Installed
 * @returns {Installed[]} every package in node_modules but our own, by name
 */
export function installedPackages() {
  const store = inRoot('node_modules/.pnpm');
  /** @type {Map<string, Installed>} */
  const found = new Map();
  for (const entry of readdirSync(store)) {
    if (!entry.includes('@') || entry === 'node_modules') continue;
    const [, name = '', version = ''] = /^(@?[^@]+)@([^_(]+)/.exec(entry.replace('+', '/')) ?? [];
    const file = `${store}/${entry}/node_modules/${name}/package.json`;
    const { license, licenses } = readPackage(file);
    found.set(`${name}@${version}`, { name, version, licence: text(license ?? licenses) });
  }
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version));
}

/**
 * @param {Installed} installed
 * @returns {boolean} whether it may be used: its licence gives the choice of a free one, or it is an exception
 */
export function isAllowed({ name, licence }) {
  const known = [...EXCEPTIONS.keys()].some(
    (key) => key === name || (key.endsWith('*') && name.startsWith(key.slice(0, -1))),
  );
  return known || isFree(licence);
}

/**
 * @param {string} expression in the words of SPDX
 * @returns {boolean}
 */
function isFree(expression) {
  const bare = expression.replace(/^\((.*)\)$/, '$1');
  if (/\bOR\b/.test(bare)) return bare.split(/\s+OR\s+/).some(isFree);
  return bare.split(/\s+and\s+/i).every((licence) => FREE.has(licence));
}

/**
 * @param {string} file
 * @returns {Record<string, unknown>}
 */
function readPackage(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/**
 * @param {unknown} licence as package.json has it, in any of its forms
 * @returns {string}
 */
function text(licence) {
  if (typeof licence === 'string') return licence;
  if (Array.isArray(licence)) return licence.map(text).join(' OR ');
  if (typeof licence === 'object' && licence !== null && 'type' in licence) return String(licence.type);
  return 'unknown';
}
