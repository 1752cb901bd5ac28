import './lib/node-version.mjs';

const { prepareOrExit } = await import('./lib/prepare.mjs');
await prepareOrExit('build');
process.stderr.write('muster: ready; `npm start` starts it.\n');
