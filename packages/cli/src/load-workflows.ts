import { existsSync } from 'node:fs';
import { register } from 'node:module';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isWorkflow, type Workflow } from '@muster/worker';
import { CommandError, exitCodes } from './exit-codes.ts';

const typescript = new Set(['.ts', '.mts', '.cts', '.tsx']);

/**
 * The workflows that files export, by name, as default, or in an exported list. TypeScript needs no build: it is compiled
 * while it is loaded. Throws a usage error where a file is missing, fails to load, or exports none.
 */
export async function loadWorkflows(files: readonly string[], cwd: string): Promise<Workflow[]> {
  offerSdk();
  const found = new Map<string, Workflow>();
  for (const file of files) {
    const path = resolve(cwd, file);
    if (!existsSync(path)) throw usage(`There is no file ${file}.`);
    const exported = workflowsOf(await load(path, file));
    if (exported.length === 0)
      throw usage(`${file} exports no workflow: export const name = workflow({ … }, handler).`);
    for (const one of exported) found.set(one.ref, one);
  }
  return [...found.values()];
}

async function load(path: string, file: string): Promise<object> {
  const url = pathToFileURL(path).href;
  try {
    if (!typescript.has(extname(path))) return (await import(url)) as object;
    const { tsImport } = await import('tsx/esm/api');
    return (await tsImport(url, { parentURL: import.meta.url, tsconfig: false })) as object;
  } catch (error) {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw usage(`${file} cannot be loaded: ${why}`);
  }
}

function workflowsOf(module: object): Workflow[] {
  const values = Object.values(module).flatMap((value: unknown) =>
    Array.isArray(value) ? (value as unknown[]) : [value],
  );
  // A default export that is an object of its own, as CommonJS and some compilers make it.
  const nested = values.flatMap((value) => (isPlainObject(value) && !isWorkflow(value) ? Object.values(value) : []));
  return [...new Set([...values, ...nested].filter(isWorkflow))];
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

let offered = false;

// Files outside a package that has the SDK installed import '@muster/worker' all the same: this program brings it.
function offerSdk(): void {
  if (offered) return;
  offered = true;
  const bundled = new URL('./worker-sdk.mjs', import.meta.url);
  const sdk = existsSync(bundled) ? bundled : new URL('../../worker/src/index.ts', import.meta.url);
  const hook = `export async function resolve(specifier, context, next) {
  if (specifier !== '@muster/worker') return next(specifier, context);
  try {
    return await next(specifier, context);
  } catch {
    return next(${JSON.stringify(sdk.href)}, context);
  }
}`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
}

function usage(message: string): CommandError {
  return new CommandError(message, exitCodes.usage);
}
