// `npm run check`: the fast part of `npm test`.
import './lib/node-version.mjs';

const { prepareOrExit } = await import('./lib/prepare.mjs');
await prepareOrExit('generate');
const { fastChecks } = await import('./lib/suites.mjs');
const { runChecks } = await import('./lib/checks.mjs');
process.exit(await runChecks(fastChecks()));
