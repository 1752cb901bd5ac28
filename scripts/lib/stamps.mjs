// What a step was last done for: the hash of its inputs' contents, kept with node_modules.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cacheDir, inRoot } from './workspace.mjs';

const ignoredFolders = new Set(['node_modules', 'dist', 'generated', '.cache', '.muster', 'test-results', 'coverage']);
const ignoredFiles = /\.(test|prop\.test|db\.test|pg\.test|e2e)\.[cm]?tsx?$|\.md$|\.tsbuildinfo$/;

/**
 * @param {string} entry a file or folder, from the root
 * @returns {string[]} the files that count, sorted
 */
function filesOf(entry) {
  const full = inRoot(entry);
  if (!existsSync(full)) return [];
  if (statSync(full).isFile()) return [entry];
  return readdirSync(full, { withFileTypes: true })
    .flatMap((item) => {
      const name = path.posix.join(entry, item.name);
      if (item.isDirectory()) return ignoredFolders.has(item.name) ? [] : filesOf(name);
      return item.isFile() && !ignoredFiles.test(item.name) ? [name] : [];
    })
    .sort();
}

/**
 * @param {string[]} entries files and folders, from the root
 * @returns {string} a hash of names and contents
 */
export function hashOf(entries) {
  const hash = createHash('sha256');
  for (const file of entries.flatMap(filesOf)) {
    const content = readFileSync(inRoot(file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** @param {string} name */
const stampFile = (name) => path.join(cacheDir, `${name}.stamp`);

/**
 * @param {string} name
 * @param {string} hash
 * @returns {boolean} whether the step was done for just these inputs
 */
export function isStamped(name, hash) {
  return existsSync(stampFile(name)) && readFileSync(stampFile(name), 'utf8') === hash;
}

/**
 * @param {string} name
 * @param {string} hash
 */
export function writeStamp(name, hash) {
  mkdirSync(cacheDir, { recursive: true });
  writeFileSync(stampFile(name), hash);
}

/** @param {string} name */
export function removeStamp(name) {
  rmSync(stampFile(name), { force: true });
}
