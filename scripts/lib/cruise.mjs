import { createRequire } from 'node:module';
import { inRoot } from './workspace.mjs';

const require = createRequire(import.meta.url);
const config = require(inRoot('.dependency-cruiser.cjs'));

/** Whether the modules are read as they are when they run, without what is imported for its type alone. */
let withoutTypes = false;

/**
 * @param {any} item of a module, as swc has parsed it
 * @returns {boolean}
 */
function isTypeOnly(item) {
  if (item.type !== 'ImportDeclaration' && item.type !== 'ExportNamedDeclaration') return false;
  const { typeOnly, specifiers } = item;
  return (
    typeOnly || (specifiers.length > 0 && specifiers.every((/** @type {any} */ specifier) => specifier.isTypeOnly))
  );
}

// dependency-cruiser tells swc neither which files have JSX in them, nor does it see which imports are for types. It takes
// the functions of swc as they are when it is loaded, so this comes first.
/** @type {any} */
const swc = require('@swc/core');
const { parseFileSync } = swc;
swc.parseFileSync = (/** @type {string} */ file, /** @type {any} */ options) => {
  const parsed = parseFileSync(file, { ...options, tsx: file.endsWith('.tsx') });
  return withoutTypes
    ? { ...parsed, body: parsed.body.filter((/** @type {any} */ item) => !isTypeOnly(item)) }
    : parsed;
};
const { cruise } = await import('dependency-cruiser');

/** Names of all rules. @type {string[]} */
export const ruleNames = [...config.always, ...config.atRunTime].map(
  (/** @type {{ name: string }} */ rule) => rule.name,
);

/**
 * @typedef {object} Cruised
 * @property {string[]} modules the project's own modules that were read, as paths from the base
 * @property {{ rule: string, text: string }[]} violations
 */

/**
 * @param {string[]} folders
 * @param {string} baseDir
 * @param {object[]} forbidden
 * @returns {Promise<Cruised>}
 */
async function cruiseOnce(folders, baseDir, forbidden) {
  const { options } = config;
  const result = await cruise(folders, { ...options, baseDir, validate: true, ruleSet: { forbidden, options } });
  const output = /** @type {import('dependency-cruiser').ICruiseResult} */ (result.output);
  const modules = output.modules
    .map((module) => module.source)
    .filter((source) => /[.][cm]?[tj]sx?$/.test(source) && !source.includes('node_modules'));
  const violations = output.summary.violations.map(({ rule, from, to }) => ({
    rule: rule.name,
    text: `${rule.name}: ${from} → ${to}`,
  }));
  return { modules, violations };
}

/**
 * Reads the folders and holds every import against the rules.
 * @param {string[]} folders from the base
 * @param {string} baseDir
 * @returns {Promise<Cruised>}
 */
export async function cruiseFolders(folders, baseDir) {
  withoutTypes = false;
  const all = await cruiseOnce(folders, baseDir, config.always);
  withoutTypes = true;
  const loaded = await cruiseOnce(folders, baseDir, config.atRunTime);
  return { modules: all.modules, violations: [...all.violations, ...loaded.violations] };
}
