// `npm test`: everything that must hold before a change is merged.
import './lib/node-version.mjs';

const { prepareOrExit } = await import('./lib/prepare.mjs');
await prepareOrExit('build');
const { allChecks } = await import('./lib/suites.mjs');
const { runChecks } = await import('./lib/checks.mjs');
process.exit(await runChecks(allChecks()));
