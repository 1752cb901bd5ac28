// `npm run audit`: asks the registry for known weaknesses of what is in the lock file. Needs the network, so it is no part of `npm test`.
// What is known and does not concern us stands in pnpm-workspace.yaml (auditConfig) with its reason in docs/supply-chain.md.
import './lib/node-version.mjs';
import process from 'node:process';
import { run } from './lib/processes.mjs';
import { readJson } from './lib/workspace.mjs';

const pnpm = readJson('package.json').packageManager.split('+')[0];
const { code, output } = await run('npx', ['--yes', pnpm, 'audit', '--audit-level', 'low']);
process.stdout.write(output);
process.exit(code);
