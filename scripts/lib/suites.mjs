// What `npm run check` and `npm test` consist of, fast first.
import { countingCheck, playwrightCheck, toolCheck, vitestCheck } from './checks.mjs';
import { needChromium, needPostgres } from './debian-packages.mjs';
import { typesCheck } from './types-check.mjs';
import { inRoot, readJson, workspaceMembers } from './workspace.mjs';

/** Members whose tests need a database server; they come later. */
const databaseMembers = ['prisma', 'apps/api'];

/** Members whose tests drive the built product. */
const productMembers = ['e2e'];

/** @returns {string[]} the members with tests of their own that need nothing but Node */
function unitMembers() {
  const others = new Set([...databaseMembers, ...productMembers]);
  return workspaceMembers().filter((member) => !others.has(member) && readJson(`${member}/package.json`).scripts?.test);
}

/** Format, lint, types, directions, dead code, unit. */
export const fastChecks = () => [
  toolCheck('format', 'biome', ['format', '--colors=off']),
  toolCheck('lint', 'oxlint', ['--type-aware', '--deny-warnings', '--format=unix']),
  typesCheck('types'),
  countingCheck('directions', [inRoot('scripts/directions.mjs')]),
  toolCheck('dead code', 'knip', ['--no-progress', '--treat-config-hints-as-errors']),
  vitestCheck('unit scripts', 'scripts'),
  ...unitMembers().map((member) => vitestCheck(`unit ${member}`, member)),
];

/** Real databases, the routing vectors, the built product in a terminal and in a browser. */
export const slowChecks = () => [
  needPostgres(),
  // The database layer runs on both kinds by itself.
  vitestCheck('database layer', 'prisma'),
  ...['embedded', 'postgres'].map((database) =>
    vitestCheck(`api on ${database}`, 'apps/api', {
      env: { MUSTER_TEST_DATABASE: database },
      // Plans are PostgreSQL's alone: one run of them, with the others of PostgreSQL.
      args: database === 'embedded' ? ['--exclude=src/**/*plans.test.ts'] : [],
    }),
  ),
  countingCheck('conformance', ['--import', 'tsx', inRoot('packages/core/conformance/run.ts')]),
  vitestCheck('black box', 'e2e'),
  vitestCheck('soak', 'e2e', { args: ['--config=vitest.soak.config.ts'] }),
  needChromium(),
  playwrightCheck('browser', 'e2e'),
];
