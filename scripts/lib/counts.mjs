// How many tests a runner says it ran, read from what it wrote for machines.
import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped not run, for whatever reason
 */

/**
 * @param {string} file vitest's JSON report
 * @returns {Counts}
 */
export function vitestCounts(file) {
  const report = JSON.parse(readFileSync(file, 'utf8'));
  // A file that cannot be loaded has no tests to fail.
  const brokenFiles = report.testResults.filter(
    (/** @type {any} */ result) =>
      result.status === 'failed' &&
      !result.assertionResults.some((/** @type {any} */ test) => test.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + brokenFiles.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/**
 * @param {string} file Playwright's JSON report
 * @returns {Counts}
 */
export function playwrightCounts(file) {
  const { stats, errors } = JSON.parse(readFileSync(file, 'utf8'));
  return { passed: stats.expected, failed: stats.unexpected + stats.flaky + errors.length, skipped: stats.skipped };
}

/**
 * @param {string} output of a runner that ends with a line `N passed, N failed`
 * @returns {Counts}
 */
export function lastLineCounts(output) {
  const found = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1);
  return { passed: Number(found?.[1] ?? 0), failed: Number(found?.[2] ?? 0), skipped: 0 };
}
