// Runs checks, a few at a time, tells how each went, and adds the tests up.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { lastLineCounts, playwrightCounts, vitestCounts } from './counts.mjs';
import { run } from './processes.mjs';
import { cacheDir, inRoot } from './workspace.mjs';

/**
 * @typedef {import('./counts.mjs').Counts} Counts
 * @typedef {{ code: number, output: string, counts?: Counts }} Outcome
 * @typedef {object} Check
 * @property {string} name
 * @property {boolean} [alone] whether it needs the machine for itself, or others need what it does
 * @property {(scratch: string) => Promise<Outcome>} run scratch: an empty folder of its own
 */

/** So many checks run at a time: many wait most of the time, and what they wait for needs a processor too. */
const lanes = availableParallelism() > 1 ? 2 : 1;

/** No check may hang for ever. */
const timeoutSeconds = 30 * 60;

/**
 * A tool that says yes or no: counts as one test.
 * @param {string} name
 * @param {string} tool
 * @param {string[]} args
 * @returns {Check}
 */
export function toolCheck(name, tool, args) {
  return { name, run: () => run(inRoot('node_modules/.bin', tool), args, { timeoutSeconds }) };
}

/**
 * A script of ours that ends with `N passed, N failed`.
 * @param {string} name
 * @param {string[]} args of node
 * @returns {Check}
 */
export function countingCheck(name, args) {
  return {
    name,
    async run() {
      const result = await run(process.execPath, args, { timeoutSeconds });
      return { ...result, counts: lastLineCounts(result.output) };
    },
  };
}

/**
 * @param {string} name
 * @param {string} folder from the root
 * @param {{ env?: Record<string, string>, args?: string[], alone?: boolean }} [options]
 * @returns {Check}
 */
export function vitestCheck(name, folder, options = {}) {
  return {
    name,
    alone: options.alone ?? false,
    async run(scratch) {
      const report = path.join(scratch, 'report.json');
      const args = [
        'run',
        '--root',
        inRoot(folder),
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
      ];
      const result = await run(inRoot('node_modules/.bin/vitest'), [...args, ...(options.args ?? [])], {
        cwd: inRoot(folder),
        env: { ...options.env, CI: 'true', FORCE_COLOR: undefined, NO_COLOR: '1' },
        timeoutSeconds,
      });
      return { ...result, counts: readCounts(() => vitestCounts(report)) };
    },
  };
}

/**
 * @param {string} name
 * @param {string} folder from the root
 * @returns {Check}
 */
export function playwrightCheck(name, folder) {
  return {
    name,
    async run(scratch) {
      const report = path.join(scratch, 'report.json');
      const result = await run(inRoot(folder, 'node_modules/.bin/playwright'), ['test', '--reporter=line,json'], {
        cwd: inRoot(folder),
        env: { PLAYWRIGHT_JSON_OUTPUT_FILE: report, CI: 'true', FORCE_COLOR: undefined, NO_COLOR: '1' },
        timeoutSeconds,
      });
      return { ...result, counts: readCounts(() => playwrightCounts(report)) };
    },
  };
}

/**
 * @param {() => Counts} read
 * @returns {Counts} nothing ran where there is no report
 */
function readCounts(read) {
  try {
    return read();
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
}

/**
 * What is wrong with an outcome beyond its exit code.
 * @param {Outcome} outcome
 * @returns {string | null}
 */
export function fault({ code, counts }) {
  if (code !== 0) return `exit code ${code}`;
  if (!counts) return null;
  if (counts.failed > 0) return `${counts.failed} failed`;
  if (counts.skipped > 0) return `${counts.skipped} were skipped, and a skipped test shows nothing`;
  return counts.passed === 0 ? 'no test ran' : null;
}

/**
 * Runs all of them, also after a failure, and ends with one line `N passed, N failed`. They start in this order, a few at a
 * time; what is to run alone starts when nothing else runs, and nothing starts beside it. Each is told of when it has ended.
 * @param {Check[]} checks
 * @param {(text: string) => void} [write]
 * @returns {Promise<number>} the exit code
 */
export async function runChecks(checks, write = (text) => process.stdout.write(text)) {
  let passed = 0;
  let failed = 0;
  mkdirSync(cacheDir, { recursive: true });
  /** @type {string[]} */
  const failedNames = [];
  /** @param {Check} check */
  async function runOne(check) {
    const begun = Date.now();
    const outcome = await outcomeOf(check);
    const seconds = `${((Date.now() - begun) / 1000).toFixed(1)} s`;
    const wrong = fault(outcome);
    const counts = outcome.counts ?? { passed: wrong ? 0 : 1, failed: wrong ? 1 : 0 };
    passed += counts.passed;
    failed += wrong ? Math.max(counts.failed, 1) : 0;
    if (wrong) {
      failedNames.push(check.name);
      write(`${check.name} … FAILED (${wrong}, ${seconds})\n${outcome.output.trimEnd()}\n\n`);
    } else {
      write(`${check.name} … ok (${outcome.counts ? `${counts.passed} tests, ` : ''}${seconds})\n`);
    }
  }

  /** @type {Set<Promise<void>>} */
  const running = new Set();
  for (const check of checks) {
    while (running.size >= (check.alone ? 1 : lanes)) await Promise.race(running);
    const ended = runOne(check).finally(() => running.delete(ended));
    running.add(ended);
    if (check.alone) await ended;
  }
  await Promise.all(running);
  if (failedNames.length > 0) write(`failed: ${failedNames.join(', ')}\n`);
  write(`${passed} passed, ${failed} failed\n`);
  return failed > 0 ? 1 : 0;
}

/**
 * @param {Check} check
 * @returns {Promise<Outcome>}
 */
async function outcomeOf(check) {
  const scratch = mkdtempSync(path.join(cacheDir, 'check-'));
  try {
    return await check.run(scratch);
  } catch (error) {
    return { code: 1, output: String(error) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
