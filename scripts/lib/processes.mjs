import { spawn } from 'node:child_process';
import process from 'node:process';
import { root } from './workspace.mjs';

/** @type {Set<number>} process groups to take down with us */
const groups = new Set();

/** @param {NodeJS.Signals} signal */
function killGroups(signal) {
  for (const pid of groups) {
    try {
      process.kill(-pid, signal);
    } catch {
      // Already gone.
    }
  }
}

process.on('exit', () => killGroups('SIGKILL'));

/** @type {Record<string, number>} exit codes as a shell would give them */
const signalCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** @param {NodeJS.Signals} signal */
function onSignal(signal) {
  killGroups('SIGTERM');
  setTimeout(() => process.exit(signalCodes[signal]), 500);
}

/** @param {number} pid */
function addGroup(pid) {
  if (groups.size === 0) for (const signal of Object.keys(signalCodes)) process.on(signal, onSignal);
  groups.add(pid);
}

/** @param {number} pid */
function removeGroup(pid) {
  groups.delete(pid);
  // Nothing of ours runs: whoever is loaded into this process next decides about signals.
  if (groups.size === 0) for (const signal of Object.keys(signalCodes)) process.off(signal, onSignal);
}

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd] defaults to the root
 * @property {Record<string, string | undefined>} [env] added to the environment; undefined removes a name
 * @property {boolean} [show] let the output through instead of keeping it
 * @property {number} [timeoutSeconds] after which the command and all it started are killed
 */

/**
 * @typedef {object} RunResult
 * @property {number} code exit code; 124 where it took too long, 127 where it could not be started
 * @property {string} output stdout and stderr as they came
 */

/**
 * Runs one command in a process group of its own, which does not outlive us.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<RunResult>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', options.show ? 'inherit' : 'pipe', options.show ? 'inherit' : 'pipe'],
      detached: true,
    });
    /** @type {Buffer[]} */
    const chunks = [];
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));
    if (child.pid) addGroup(child.pid);
    let timedOut = false;
    const timer =
      options.timeoutSeconds &&
      setTimeout(() => {
        timedOut = true;
        if (child.pid) process.kill(-child.pid, 'SIGKILL');
      }, options.timeoutSeconds * 1000);
    const finish = (/** @type {number} */ code, /** @type {string} */ note) => {
      if (timer) clearTimeout(timer);
      if (child.pid) removeGroup(child.pid);
      resolve({ code, output: Buffer.concat(chunks).toString('utf8') + note });
    };
    child.on('error', (error) => finish(127, `${command} could not be started: ${error.message}\n`));
    child.on('close', (code) => {
      if (timedOut) finish(124, `\n${command} was stopped after ${options.timeoutSeconds} s.\n`);
      else finish(code ?? 1, '');
    });
  });
}
