import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { run } from './processes.mjs';
import { inRoot, workspaceMembers } from './workspace.mjs';

/** At most so many compilers at once. */
const lanes = 2;

/**
 * @param {string} folder from the root
 * @returns {string[]} it and the folders in it that have a tsconfig.json
 */
function projectsIn(folder) {
  const inner = readdirSync(inRoot(folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...inner.map((entry) => path.join(folder, entry.name))].filter((project) =>
    existsSync(inRoot(project, 'tsconfig.json')),
  );
}

/**
 * The type check of every folder that has a tsconfig.json, a few at a time.
 * @param {string} name
 * @returns {import('./checks.mjs').Check}
 */
export function typesCheck(name) {
  return {
    name,
    async run() {
      const waiting = ['scripts', ...workspaceMembers()].flatMap(projectsIn);
      /** @type {string[]} */
      const outputs = [];
      let failures = 0;
      const work = async () => {
        for (let folder = waiting.shift(); folder; folder = waiting.shift()) {
          const { code, output } = await run(inRoot('node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false']);
          if (code !== 0) {
            failures += 1;
            outputs.push(`${folder}:\n${output}`);
          }
        }
      };
      await Promise.all(Array.from({ length: lanes }, work));
      return { code: failures === 0 ? 0 : 1, output: outputs.join('\n') };
    },
  };
}
