// `npm start [-- OPTIONS]` is `muster serve OPTIONS` on a build that is up to date. The server runs in this very
// process, so signals and the exit code are its own.
import './lib/node-version.mjs';
import { pathToFileURL } from 'node:url';

const { prepareOrExit } = await import('./lib/prepare.mjs');
const { bundleDir } = await import('./lib/workspace.mjs');
await prepareOrExit('build');

const main = `${bundleDir}/muster.mjs`;
process.argv = [process.argv[0], main, 'serve', ...process.argv.slice(2)];
await import(pathToFileURL(main).href);
