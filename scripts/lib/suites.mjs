// What `npm run check` and `npm test` consist of.
import { countingCheck, playwrightCheck, toolCheck, vitestCheck } from './checks.mjs';
import { needChromium, needPostgres } from './debian-packages.mjs';
import { typesCheck } from './types-check.mjs';
import { inRoot, readJson, workspaceMembers } from './workspace.mjs';

/** Members whose tests need a database server. */
const databaseMembers = ['prisma', 'apps/api'];

/** Members whose tests drive the built product. */
const productMembers = ['e2e'];

/** Tests of the SDK against servers of their own, from source: they take a minute, and run on both databases. */
const serverTests = ['src/durable-real-server.test.ts', 'src/real-server.test.ts', 'src/metrics/real-fleet.test.ts'];

/** Both homes of the database, as tests are told of them. */
const databases = ['embedded', 'postgres'];

/** @returns {string[]} the members with tests of their own that need nothing but Node */
function unitMembers() {
  const others = new Set([...databaseMembers, ...productMembers]);
  return workspaceMembers().filter((member) => !others.has(member) && readJson(`${member}/package.json`).scripts?.test);
}

const staticChecks = () => [
  toolCheck('format', 'biome', ['format', '--colors=off']),
  toolCheck('lint', 'oxlint', ['--type-aware', '--deny-warnings', '--format=unix']),
  typesCheck('types'),
  countingCheck('directions', [inRoot('scripts/directions.mjs')]),
  toolCheck('dead code', 'knip', ['--no-progress', '--treat-config-hints-as-errors']),
];

const unitChecks = () => [
  vitestCheck('unit scripts', 'scripts'),
  ...unitMembers().map((member) =>
    vitestCheck(`unit ${member}`, member, {
      args: member === 'packages/worker' ? serverTests.map((file) => `--exclude=${file}`) : [],
    }),
  ),
];

/** Real databases, the routing vectors, the built product in a terminal and in a browser; what takes longest first. */
const slowChecks = () => [
  ...databases.map((database) =>
    vitestCheck(`api on ${database}`, 'apps/api', {
      env: { MUSTER_TEST_DATABASE: database },
      // Plans are PostgreSQL's alone: one run of them, with the others of PostgreSQL.
      args: database === 'embedded' ? ['--exclude=src/**/*plans.test.ts'] : [],
    }),
  ),
  playwrightCheck('browser', 'e2e'),
  vitestCheck('black box', 'e2e'),
  // The database layer runs on both kinds by itself.
  vitestCheck('database layer', 'prisma'),
  ...databases.map((database) =>
    vitestCheck(`worker with a server on ${database}`, 'packages/worker', {
      env: { MUSTER_TEST_DATABASE: database },
      args: serverTests,
    }),
  ),
  countingCheck('conformance', ['--import', 'tsx', inRoot('packages/core/conformance/run.ts')]),
];

/** Format, lint, types, directions, dead code, unit. */
export const fastChecks = () => [...staticChecks(), ...unitChecks()];

/** Everything. */
export const allChecks = () => [
  needPostgres(),
  needChromium(),
  ...staticChecks(),
  ...slowChecks(),
  ...unitChecks(),
  // Its servers have to keep their times beside eight workers of its own.
  vitestCheck('soak', 'e2e', { args: ['--config=vitest.soak.config.ts'], alone: true }),
];
