// `npm run conformance [-- FILE.jsonl…]`: answers routing vectors; file names count from where npm was called.
import './lib/node-version.mjs';
import path from 'node:path';

const { prepareOrExit } = await import('./lib/prepare.mjs');
const { run } = await import('./lib/processes.mjs');
const { inRoot } = await import('./lib/workspace.mjs');
await prepareOrExit('install');

const from = process.env.INIT_CWD ?? process.cwd();
const files = process.argv.slice(2).map((file) => path.resolve(from, file));
const args = ['--import', 'tsx', inRoot('packages/core/conformance/run.ts'), ...files];
process.exitCode = (await run(process.execPath, args, { show: true })).code;
