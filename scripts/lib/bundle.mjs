// Makes packages/cli/dist: the command line, the API and the embedded database as one bundle of flat chunks, the admin
// app and the migrations beside it. Built aside and moved into place, so that nobody sees half of it.
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { rolldown } from 'rolldown';
import { bundleDir, inRoot } from './workspace.mjs';

/** Every file that is started or loaded by name: the command, what workflow files import, processes of handlers and what they load, the threads. */
const entries = {
  muster: inRoot('packages/cli/src/main.ts'),
  'worker-sdk': inRoot('packages/worker/src/index.ts'),
  'runner-child': inRoot('packages/worker/src/runners/child-main.ts'),
  'import-user-module': inRoot('packages/cli/src/import-user-module.ts'),
  'pglite-worker': inRoot('prisma/src/pglite-worker.mjs'),
};

// Left outside: what brings files of its own or loads modules by name. The command's package depends on exactly these.
const external = Object.keys(JSON.parse(readFileSync(inRoot('packages/cli/package.json'), 'utf8')).dependencies).filter(
  (name) => !name.startsWith('@muster/'),
);

/** @param {string} id */
const isExternal = (id) => id.startsWith('node:') || external.some((name) => id === name || id.startsWith(`${name}/`));

const aside = `${bundleDir}.${process.pid}`;
rmSync(aside, { recursive: true, force: true });
mkdirSync(aside, { recursive: true });
try {
  const bundle = await rolldown({
    input: entries,
    platform: 'node',
    external: isExternal,
    onLog(level, log, handler) {
      if (log.code === 'EVAL') return;
      handler(level, log);
    },
  });
  await bundle.write({
    dir: aside,
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  });
  await bundle.close();
  cpSync(inRoot('apps/admin/dist'), path.join(aside, 'admin'), { recursive: true });
  cpSync(inRoot('prisma/migrations'), path.join(aside, 'migrations'), { recursive: true });
  if (existsSync(bundleDir)) renameSync(bundleDir, `${aside}.old`);
  renameSync(aside, bundleDir);
} finally {
  rmSync(aside, { recursive: true, force: true });
  rmSync(`${aside}.old`, { recursive: true, force: true });
}
