// `npm run sbom [file]`: what the product is made of, as CycloneDX JSON, from the lock file; to sbom.cdx.json where nothing is said.
import './lib/node-version.mjs';
import { resolve } from 'node:path';
import process from 'node:process';
import { run } from './lib/processes.mjs';
import { inRoot, readJson } from './lib/workspace.mjs';

const out = resolve(process.argv[2] ?? inRoot('sbom.cdx.json'));
const pnpm = readJson('package.json').packageManager.split('+')[0];
const args = ['--yes', pnpm, 'sbom', '--prod', '--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6'];
const { code, output } = await run('npx', [...args, '--sbom-type', 'application', '--out', out]);
if (code === 0) process.stdout.write(`${out}\n`);
else process.stderr.write(output);
process.exit(code);
