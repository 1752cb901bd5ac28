import { existsSync } from 'node:fs';
import { isWorkflow, type Workflow } from '@muster/worker';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandError, exitCodes } from './exit-codes.ts';
import { importUserModule } from './import-user-module.ts';

/**
 * The workflows that files export, by name, as default, or in an exported list. TypeScript needs no build. Throws a usage
 * error where a file is missing, fails to load, or exports none.
 */
export async function loadWorkflows(files: readonly string[], cwd: string): Promise<Workflow[]> {
  const found = new Map<string, Workflow>();
  for (const file of files) {
    const path = resolve(cwd, file);
    if (!existsSync(path)) throw usage(`There is no file ${file}.`);
    const exported = workflowsOf(await load(path, file));
    if (exported.length === 0)
      throw usage(`${file} exports no workflow: export const name = workflow({ … }, handler).`);
    for (const one of exported) found.set(one.ref, withModule(one, pathToFileURL(path).href));
  }
  return [...found.values()];
}

// For the runner subprocess, whose processes load the file again.
function withModule(one: Workflow, module: string): Workflow {
  return { ...one, options: { module, ...one.options } };
}

async function load(path: string, file: string): Promise<object> {
  try {
    return await importUserModule(path);
  } catch (error) {
    throw usage(`${file} cannot be loaded: ${explain(error)}`);
  }
}

// What the compiler found has its place in the message; what the file threw, in the part of the stack above the loader.
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('errors' in error || error.stack === undefined) return error.message;
  const lines = error.stack.split('\n');
  const loader = lines.findIndex((line) => line.includes('ModuleJob.run'));
  return lines.slice(0, loader === -1 ? lines.length : loader).join('\n');
}

function workflowsOf(module: object): Workflow[] {
  const values = Object.values(module).flatMap((value: unknown) =>
    Array.isArray(value) ? (value as unknown[]) : [value],
  );
  return [...new Set(values.filter(isWorkflow))];
}

function usage(message: string): CommandError {
  return new CommandError(message, exitCodes.usage);
}
