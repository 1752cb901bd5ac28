// Which part may know which. scripts/directions.mjs runs these rules over every member and scripts/directions.test.mjs
// plants a violation of each. Tests may reach further than the code beside them: they are left out by `notTest`.

const test = '[.](test|prop[.]test|db[.]test|pg[.]test)[.]tsx?$|/testing/|/(test|tests|fixtures)/';
const notTest = { pathNot: test };
const coreUses = '^(@lezer/|@noble/hashes|croner|zod)';

/** Shorthand: files under `from` must not reach `to`. */
function forbid(name, comment, from, to) {
  return { name, comment, severity: 'error', from: { ...notTest, ...from }, to };
}

module.exports = {
  // Hold for every import, those of types too.
  always: [
    forbid(
      'core-is-pure',
      'The rules know no platform: nothing of Node, no other member.',
      { path: '^packages/core/src/' },
      { pathNot: ['^packages/core/src/', `node_modules/${coreUses.slice(1)}`, coreUses] },
    ),
    forbid(
      'core-lib-is-the-bottom',
      'core/lib stands under all of core.',
      { path: '^packages/core/src/lib/' },
      { path: '^packages/core/src/(?!lib/)' },
    ),
    forbid(
      'core-rules-know-no-decision',
      'decide() is put together from policy, constraints, worker and execution, not the other way round.',
      { path: '^packages/core/src/(policy|constraints|worker|execution)/' },
      { path: '^packages/core/src/decision/(decide|explain|blind)' },
    ),
    forbid(
      'client-knows-only-core',
      'The client knows the server by its schema.',
      { path: '^packages/client/' },
      { path: '^(apps|prisma|e2e|bench|examples)/|^packages/(?!client/|core/)' },
    ),
    forbid(
      'worker-knows-only-client',
      'The SDK stands on client and core.',
      { path: '^packages/worker/' },
      { path: '^(apps|prisma|e2e|bench|examples)/|^packages/(?!worker/|client/|core/)' },
    ),
    forbid(
      'cli-knows-no-server',
      'The command knows the server by its schema; `serve` alone loads the app, and only when asked to.',
      { path: '^packages/cli/', pathNot: [test, '^packages/cli/.*/serve'] },
      { path: '^(apps|prisma|e2e|bench|examples)/' },
    ),
    forbid(
      'db-knows-only-core',
      'Schema and connections know no service.',
      { path: '^prisma/' },
      { path: '^(apps|e2e|bench|examples)/|^packages/(?!core/)' },
    ),
    forbid(
      'api-knows-no-app',
      'The API knows core and db, and the SDK for its own worker.',
      { path: '^apps/api/' },
      { path: '^(apps/admin|e2e|bench|examples)/|^packages/(cli)/' },
    ),
    forbid(
      'services-know-no-graphql',
      'The wire shape is known by *.graphql.ts alone.',
      { path: '^apps/api/src/.*-(service|store)[.]ts$' },
      { path: '[.]graphql[.]ts$|^apps/api/src/(graphql/(?!ids|connection|page-rows)|http/)' },
    ),
    forbid(
      'stores-know-no-service',
      'A store answers; it does not decide.',
      { path: '-store[.]ts$' },
      { path: '-service[.]ts$' },
    ),
    forbid(
      'admin-knows-no-server',
      'The admin app knows the server by its schema.',
      { path: '^apps/admin/' },
      { path: '^(apps/api|prisma|e2e|bench|examples)/|^packages/(worker|cli)/' },
    ),
    forbid(
      'no-page-to-page',
      'A page never imports another page.',
      { path: '^apps/admin/src/pages/([^/]+)/' },
      { path: '^apps/admin/src/pages/', pathNot: '^apps/admin/src/pages/$1/' },
    ),
    forbid(
      'ui-knows-no-router-and-no-api',
      'Blocks take props.',
      { path: '^apps/admin/src/ui/' },
      { path: '^apps/admin/src/(api|pages|routes|paths)|@tanstack/|@muster/client|^packages/client/' },
    ),
    {
      name: 'e2e-is-a-black-box',
      comment:
        'End-to-end tests see what users see: HTTP, the SDK, and core in a browser build. The soak brings a PostgreSQL of its own.',
      severity: 'error',
      from: { path: '^e2e/' },
      to: { path: '^apps/|^prisma/(?!src/testing/)|^packages/(?!worker/|core/|client/)' },
    },
    {
      name: 'examples-use-the-sdk-only',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(apps|prisma|e2e|bench)/|^packages/(?!worker/)' },
    },
    {
      name: 'nobody-imports-tests',
      comment: 'What is shared between tests lies under testing/.',
      severity: 'error',
      from: { pathNot: test },
      to: { path: '[.]test[.]tsx?$' },
    },
  ],
  // Hold for what is loaded: a type has no weight.
  atRunTime: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'resolvable',
      comment: 'Whatever is imported is there; generated code is made before this check.',
      severity: 'error',
      from: {},
      to: {
        couldNotResolve: true,
        pathNot: ['^virtual:', '^vite/client$'],
      },
    },
    forbid(
      'cli-serve-loads-lazily',
      'Every other command starts without the server.',
      { path: '^packages/cli/' },
      { path: '^(apps|prisma)/', dynamic: false },
    ),
    forbid(
      'api-own-worker-only',
      'One file starts the embedded worker; nothing else in the API sees the SDK.',
      { path: '^apps/api/', pathNot: [test, '^apps/api/.*embedded-worker'] },
      { path: '^packages/(worker|client)/' },
    ),
    forbid(
      'db-by-stores-only',
      'SQL lives in stores and in the hot statements; the composition root opens the database.',
      {
        path: '^apps/api/src/',
        pathNot: [
          test,
          '-store[.]ts$',
          '/(statements|sql)/',
          '-statements?[.]ts$',
          '^apps/api/src/(app|main|control-plane)[.]ts$',
          '^apps/api/src/dispatch/',
          '^apps/api/src/bus/postgres',
        ],
      },
      {
        path: '^prisma/|(^|/)node_modules/(pg|@prisma/[^/]+)/|^(pg|@prisma)(/|$)',
      },
    ),
    forbid(
      'graphql-through-services',
      'A resolver parses, calls one service and maps errors.',
      { path: '[.]graphql[.]ts$' },
      { path: '^prisma/|-store[.]ts$' },
    ),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|generated)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mts', '.mjs', '.js', '.json'],
    },
  },
};
