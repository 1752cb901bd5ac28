import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fault, runChecks } from './lib/checks.mjs';
import { lastLineCounts, playwrightCounts, vitestCounts } from './lib/counts.mjs';
import { isNodeSupported } from './lib/node-version.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'checks-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** @param {unknown} content */
function report(content) {
  const file = path.join(folder, 'report.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

const ok = { code: 0, output: '' };

test('a check without a failure, a skip or a lack of tests is good', () => {
  expect(fault(ok)).toBeNull();
  expect(fault({ ...ok, counts: { passed: 3, failed: 0, skipped: 0 } })).toBeNull();
});

test.for([
  { name: 'an exit code', outcome: { ...ok, code: 2 }, says: 'exit code 2' },
  {
    name: 'failures, whatever the exit code',
    outcome: { ...ok, counts: { passed: 1, failed: 2, skipped: 0 } },
    says: '2 failed',
  },
  { name: 'a skipped test', outcome: { ...ok, counts: { passed: 1, failed: 0, skipped: 1 } }, says: 'skipped' },
  { name: 'no test at all', outcome: { ...ok, counts: { passed: 0, failed: 0, skipped: 0 } }, says: 'no test ran' },
])('$name is a fault', ({ outcome, says }) => {
  expect(fault(outcome)).toContain(says);
});

test('a file that vitest could not load counts as a failure', () => {
  const file = report({
    numPassedTests: 4,
    numFailedTests: 1,
    numPendingTests: 2,
    numTodoTests: 1,
    testResults: [
      { status: 'failed', assertionResults: [{ status: 'failed' }] },
      { status: 'failed', assertionResults: [] },
      { status: 'passed', assertionResults: [{ status: 'passed' }] },
    ],
  });
  expect(vitestCounts(file)).toEqual({ passed: 4, failed: 2, skipped: 3 });
});

test('a browser test that passes at the second try has failed', () => {
  const file = report({ stats: { expected: 5, unexpected: 1, flaky: 1, skipped: 2 }, errors: [{ message: 'x' }] });
  expect(playwrightCounts(file)).toEqual({ passed: 5, failed: 3, skipped: 2 });
});

test('the last counting line counts', () => {
  expect(lastLineCounts('1 passed, 1 failed\nmore\n12 passed, 0 failed\n')).toEqual({
    passed: 12,
    failed: 0,
    skipped: 0,
  });
  expect(lastLineCounts('12 passed, 0 failed, really\n')).toEqual({ passed: 0, failed: 0, skipped: 0 });
});

test('versions of Node are compared as numbers', () => {
  expect(['18.19.1', '20.9.0', '20.18.3'].filter(isNodeSupported)).toEqual([]);
  expect(['20.19.0', '20.100.0', '22.1.0', '100.0.0'].filter(isNodeSupported)).toHaveLength(4);
});

/**
 * Checks that note in `log` when they begin and when they end; each takes a few turns of the event loop.
 * @param {string[]} log
 */
const noting =
  (log) =>
  (/** @type {string} */ name, more = {}) => ({
    name,
    async run() {
      log.push(`${name} begins`);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} ends`);
      return ok;
    },
    ...more,
  });

test('what is to run alone begins when all before it have ended, and ends before what comes after it', async () => {
  /** @type {string[]} */
  const log = [];
  const check = noting(log);
  await runChecks([check('a'), check('b'), check('alone', { alone: true }), check('c'), check('d')], () => undefined);
  const at = (/** @type {string} */ line) => log.indexOf(line);
  expect(log).toHaveLength(10);
  expect(at('alone begins')).toBe(4);
  expect(at('alone ends')).toBe(5);
  expect(Math.max(at('a ends'), at('b ends'))).toBeLessThan(4);
});

test('every check runs, whatever became of the others, and the last line has the sum', async () => {
  const counts = { passed: 2, failed: 0, skipped: 0 };
  let said = '';
  const code = await runChecks(
    [
      { name: 'good', run: async () => ({ ...ok, counts }) },
      { name: 'bad', run: async () => ({ code: 1, output: 'its output', counts: { ...counts, failed: 3 } }) },
      {
        name: 'broken',
        run: () => Promise.reject(new Error('not even started')),
      },
      { name: 'yes', run: async () => ok },
    ],
    (text) => {
      said += text;
    },
  );
  expect(code).toBe(1);
  expect(said).toMatch(/^good … ok \(2 tests, [\d.]+ s\)$/m);
  expect(said).toMatch(/^bad … FAILED \(exit code 1, [\d.]+ s\)\nits output$/m);
  expect(said).toContain('not even started');
  expect(said).toMatch(/^failed: bad, broken\n5 passed, 4 failed\n$/m);
});
