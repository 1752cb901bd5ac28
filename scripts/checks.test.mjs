import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fault } from './lib/checks.mjs';
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
