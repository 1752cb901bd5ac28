// Imported first by every script; its syntax and that of its importers must parse on old versions of Node.
import process from 'node:process';

/** The oldest version that runs everything here; the same as "engines" in package.json. */
const oldestNode = [20, 19];

/**
 * @param {string} version as in process.versions.node
 * @returns {boolean} whether it is new enough
 */
export function isNodeSupported(version) {
  const parts = version.split('.').map(Number);
  return parts[0] > oldestNode[0] || (parts[0] === oldestNode[0] && parts[1] >= oldestNode[1]);
}

if (!isNodeSupported(process.versions.node)) {
  process.stderr.write(
    'Muster needs Node.js ' +
      oldestNode.join('.') +
      ' or newer, and this is ' +
      process.versions.node +
      ' (' +
      process.execPath +
      ').\n',
  );
  process.exit(1);
}
