// Holds every import of the workspace against .dependency-cruiser.cjs, after making sure that the modules were read at all.
import process from 'node:process';
import { cruiseFolders, ruleNames } from './lib/cruise.mjs';
import { root, workspaceMembers } from './lib/workspace.mjs';

/** Far below what there is, far above what a tool finds that cannot read TypeScript. */
const fewestModules = 100;

const members = workspaceMembers();
const { modules, violations } = await cruiseFolders(members, root);
const unread = members.filter((member) => !modules.some((module) => module.startsWith(`${member}/`)));
const problems = [
  ...violations.map((violation) => violation.text),
  ...unread.map((member) => `no module of ${member} was read`),
  ...(modules.length < fewestModules ? [`only ${modules.length} modules were read`] : []),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${modules.length} modules read\n`);
const broken =
  new Set(violations.map((violation) => violation.rule)).size + (problems.length > violations.length ? 1 : 0);
process.stdout.write(`${ruleNames.length + 1 - broken} passed, ${broken} failed\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
