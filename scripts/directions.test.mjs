import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cruiseFolders, ruleNames } from './lib/cruise.mjs';

/**
 * One violation of each rule: files that break it and nothing they need not break.
 * @type {Record<string, Record<string, string>>}
 */
const planted = {
  'no-cycles': { 'bench/a.ts': "import './b.ts';", 'bench/b.ts': "import './a.ts';" },
  resolvable: { 'bench/a.ts': "import { gone } from './gone.ts'; gone();" },
  'core-is-pure': { 'packages/core/src/policy/a.ts': "import { readFileSync } from 'node:fs'; readFileSync('/');" },
  'core-lib-is-the-bottom': {
    'packages/core/src/lib/a.ts': "import '../policy/b.ts';",
    'packages/core/src/policy/b.ts': '',
  },
  'core-rules-know-no-decision': {
    'packages/core/src/policy/a.ts': "import '../decision/decide.ts';",
    'packages/core/src/decision/decide.ts': '',
  },
  'client-knows-only-core': {
    'packages/client/src/a.ts': "import '../../worker/src/b.ts';",
    'packages/worker/src/b.ts': '',
  },
  'worker-knows-only-client': {
    'packages/worker/src/a.ts': "import '../../../apps/api/src/b.ts';",
    'apps/api/src/b.ts': '',
  },
  'cli-knows-no-server': {
    'packages/cli/src/why.ts': "await import('../../../apps/api/src/b.ts');",
    'apps/api/src/b.ts': '',
  },
  'cli-serve-loads-lazily': {
    'packages/cli/src/serve.ts': "import '../../../apps/api/src/b.ts';",
    'apps/api/src/b.ts': '',
  },
  'db-knows-only-core': { 'prisma/src/a.ts': "import '../../apps/api/src/b.ts';", 'apps/api/src/b.ts': '' },
  'api-knows-no-app': { 'apps/api/src/a.ts': "import '../../admin/src/b.ts';", 'apps/admin/src/b.ts': '' },
  'api-own-worker-only': {
    'apps/api/src/a.ts': "import '../../../packages/worker/src/b.ts';",
    'packages/worker/src/b.ts': '',
  },
  'db-by-stores-only': {
    'apps/api/src/modules/x/x-service.ts': "import '../../../../../prisma/src/b.ts';",
    'prisma/src/b.ts': '',
  },
  'graphql-through-services': {
    'apps/api/src/modules/x/x.graphql.ts': "import './x-store.ts';",
    'apps/api/src/modules/x/x-store.ts': '',
  },
  'services-know-no-graphql': {
    'apps/api/src/modules/x/x-service.ts': "import './x.graphql.ts';",
    'apps/api/src/modules/x/x.graphql.ts': '',
  },
  'stores-know-no-service': {
    'apps/api/src/modules/x/x-store.ts': "import './x-service.ts';",
    'apps/api/src/modules/x/x-service.ts': '',
  },
  'admin-knows-no-server': { 'apps/admin/src/a.ts': "import '../../api/src/b.ts';", 'apps/api/src/b.ts': '' },
  'no-page-to-page': {
    'apps/admin/src/pages/one/a.tsx': "import '../two/b.tsx';",
    'apps/admin/src/pages/two/b.tsx': '',
  },
  'ui-knows-no-router-and-no-api': {
    'apps/admin/src/ui/a.tsx': "import '../api/b.ts';",
    'apps/admin/src/api/b.ts': '',
  },
  'e2e-is-a-black-box': { 'e2e/a.e2e.ts': "import '../apps/api/src/b.ts';", 'apps/api/src/b.ts': '' },
  'examples-use-the-sdk-only': { 'examples/a.ts': "import '../packages/core/src/b.ts';", 'packages/core/src/b.ts': '' },
  'nobody-imports-tests': { 'bench/a.ts': "import './b.test.ts';", 'bench/b.test.ts': '' },
};

/** @type {string[]} */
const bases = [];

/**
 * @param {Record<string, string>} files
 * @returns {Promise<import('./lib/cruise.mjs').Cruised>}
 */
async function cruiseFiles(files) {
  const base = mkdtempSync(path.join(tmpdir(), 'directions-'));
  bases.push(base);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.join(base, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(base, name), `${text}\nexport {};\n`);
  }
  return cruiseFolders([...new Set(Object.keys(files).map((name) => name.split('/')[0]))], base);
}

afterEach(() => {
  for (const base of bases.splice(0)) rmSync(base, { recursive: true, force: true });
});

test('every rule has a planted violation', () => {
  expect(Object.keys(planted).sort()).toEqual([...ruleNames].sort());
});

test.for(Object.entries(planted))('%s is found', async ([rule, files]) => {
  const { modules, violations } = await cruiseFiles(files);
  expect(modules).toEqual(expect.arrayContaining(Object.keys(files)));
  expect(violations.map((violation) => violation.rule)).toContain(rule);
});

test('a module with JSX is read like any other', async () => {
  const { violations } = await cruiseFiles({
    'apps/admin/src/pages/one/a.tsx':
      'import { B } from \'../two/b.tsx\';\nexport const A = () => <div title="a"><B /></div>;',
    'apps/admin/src/pages/two/b.tsx': 'export const B = () => <b>b</b>;',
  });
  expect(violations.map((violation) => violation.rule)).toContain('no-page-to-page');
});

test('types may go round in a circle, modules may not', async () => {
  const { violations } = await cruiseFiles({
    'bench/a.ts': "import { type B } from './b.ts';\nexport type A = B | 1;",
    'bench/b.ts': "import type { A } from './a.ts';\nexport type B = A | 2;",
  });
  expect(violations).toEqual([]);
});

test('what is allowed is not found', async () => {
  const { violations } = await cruiseFiles({
    'apps/api/src/modules/x/x.graphql.ts': "import './x-service.ts';",
    'apps/api/src/modules/x/x-service.ts': "import './x-store.ts'; import '../../../../../packages/core/src/lib/c.ts';",
    'apps/api/src/modules/x/x-store.ts': "import '../../../../../prisma/src/b.ts';",
    'prisma/src/b.ts': '',
    'packages/core/src/lib/c.ts': '',
    'packages/cli/src/serve.ts': "await import('../../../apps/api/src/modules/x/x.graphql.ts');",
  });
  expect(violations).toEqual([]);
});
