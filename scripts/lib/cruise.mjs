import { createRequire } from 'node:module';
import { cruise } from 'dependency-cruiser';
import { inRoot } from './workspace.mjs';

const config = createRequire(import.meta.url)(inRoot('.dependency-cruiser.cjs'));

/** Names of all rules. @type {string[]} */
export const ruleNames = config.forbidden.map((/** @type {{ name: string }} */ rule) => rule.name);

/**
 * @typedef {object} Cruised
 * @property {string[]} modules the project's own modules that were read, as paths from the base
 * @property {{ rule: string, text: string }[]} violations
 */

/**
 * Reads the folders and holds every import against the rules.
 * @param {string[]} folders from the base
 * @param {string} baseDir
 * @returns {Promise<Cruised>}
 */
export async function cruiseFolders(folders, baseDir) {
  const { forbidden, options } = config;
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
