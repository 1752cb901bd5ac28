// From a fresh clone to something that runs: install, generate, build; each only where its inputs have changed.
import { existsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { withLock } from './build-lock.mjs';
import { run } from './processes.mjs';
import { hashOf, isStamped, removeStamp, writeStamp } from './stamps.mjs';
import { bundleDir, cacheDir, inRoot, readJson, workspaceMembers } from './workspace.mjs';

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} doing what is shown while it runs
 * @property {() => string[]} inputs files and folders, from the root
 * @property {string[]} outputs absolute paths that must exist
 * @property {{ command: string, args: string[], cwd?: string }} run
 */

/** @returns {string} the pinned package manager, e.g. pnpm@1.2.3 */
function pinnedPnpm() {
  return readJson('package.json').packageManager.split('+')[0];
}

/** What decides which versions are installed. */
const lockFiles = () => [
  'package.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  ...workspaceMembers().map((member) => `${member}/package.json`),
];

/**
 * @param {string} member
 * @param {string} name
 * @returns {string} absolute path of a tool that the member depends on
 */
const binOf = (member, name) => inRoot(member, 'node_modules/.bin', name);

/** @returns {Step} */
const installStep = () => ({
  name: 'install',
  doing: `installing dependencies with ${pinnedPnpm()}`,
  inputs: lockFiles,
  outputs: [inRoot('node_modules/.modules.yaml')],
  run: { command: 'npx', args: ['--yes', pinnedPnpm(), 'install', '--frozen-lockfile'] },
});

/** @type {Step[]} */
const generateSteps = [
  {
    name: 'generate-db',
    doing: 'generating the database client',
    inputs: () => ['prisma/schema.prisma', 'prisma/package.json', 'prisma.config.ts', 'prisma/tools', 'pnpm-lock.yaml'],
    outputs: [inRoot('prisma/src/generated')],
    run: {
      command: binOf('prisma', 'prisma'),
      args: ['generate', '--config', '../prisma.config.ts'],
      cwd: inRoot('prisma'),
    },
  },
  ...Object.entries({ 'packages/client': 'src/generated', 'apps/admin': 'src/api/generated' }).map(
    ([member, output]) => ({
      name: `generate-${path.basename(member)}`,
      doing: `generating the typed documents of ${member}`,
      inputs: () => [
        'apps/api/schema.graphql',
        `${member}/src`,
        `${member}/codegen.ts`,
        `${member}/package.json`,
        'pnpm-lock.yaml',
      ],
      outputs: [inRoot(member, output)],
      run: { command: binOf(member, 'graphql-codegen'), args: ['--config', 'codegen.ts'], cwd: inRoot(member) },
    }),
  ),
];

/** @type {Step[]} */
const buildSteps = [
  {
    name: 'build-admin',
    doing: 'building the admin app',
    inputs: () => [
      'apps/admin',
      'packages/core/src',
      'packages/client/src',
      'apps/api/schema.graphql',
      'pnpm-lock.yaml',
    ],
    outputs: [inRoot('apps/admin/dist/index.html')],
    run: { command: binOf('apps/admin', 'vite'), args: ['build', '--logLevel', 'warn'], cwd: inRoot('apps/admin') },
  },
  {
    name: 'build-server',
    doing: 'building the server and the command line',
    inputs: () => ['packages', 'apps', 'prisma', 'scripts/lib/bundle.mjs', 'pnpm-lock.yaml'],
    outputs: [path.join(bundleDir, 'muster.mjs'), path.join(bundleDir, 'admin/index.html')],
    run: { command: process.execPath, args: [inRoot('scripts/lib/bundle.mjs')] },
  },
];

/** @param {string} line */
const say = (line) => process.stderr.write(`muster: ${line}\n`);

/**
 * @param {Step} step
 * @returns {Promise<boolean>} whether there was something to do
 */
async function doStep(step) {
  const hash = hashOf(step.inputs());
  if (isStamped(step.name, hash) && step.outputs.every((file) => existsSync(file))) return false;
  removeStamp(step.name);
  say(`${step.doing} …`);
  const begun = Date.now();
  const { code, output } = await run(step.run.command, step.run.args, { cwd: step.run.cwd });
  if (code !== 0) {
    process.stderr.write(output);
    throw new PrepareError(`${step.doing} failed (exit code ${code}); the output is above.`);
  }
  const missing = step.outputs.find((file) => !existsSync(file));
  if (missing) throw new PrepareError(`${step.doing} ended well, but ${missing} is not there.`);
  writeStamp(step.name, hash);
  say(`${step.doing}: done in ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  return true;
}

/** Thrown when a step has failed; its message is one sentence for the person at the terminal. */
class PrepareError extends Error {}

/**
 * Brings the working copy up to date. Two calls at the same time, in whatever process, do the work once.
 * @param {'install' | 'generate' | 'build'} goal
 * @returns {Promise<void>}
 */
async function prepare(goal) {
  const steps = [installStep(), ...(goal === 'install' ? [] : generateSteps), ...(goal === 'build' ? buildSteps : [])];
  await withLock(
    path.join(cacheDir, 'build.lock'),
    () => say('waiting for another command that is building in this folder …'),
    async () => {
      for (const step of steps) await doStep(step);
    },
  );
}

/**
 * For the scripts at the top: a failure is one sentence and a code.
 * @param {'install' | 'generate' | 'build'} goal
 */
export async function prepareOrExit(goal) {
  try {
    await prepare(goal);
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    say(error.message);
    process.exit(1);
  }
}
