import { createRequire } from 'node:module';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

type AnyFunction = (...given: never[]) => unknown;

/**
 * The function that `module:export` names. The module is a path from the working directory (`./metrics.mjs:collect`), an
 * absolute path, a `file:` URL, or a package as seen from the working directory. Throws where there is no such function.
 * `loader` is another such text: the function of a path that imports the module instead of `import()`.
 */
export async function importExport(text: string, loader?: string): Promise<AnyFunction> {
  const colon = text.lastIndexOf(':');
  const [specifier, name] = [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
  if (colon === -1 || specifier === '' || name === '') {
    throw new Error(`"${text}" does not name a function: module:export, e.g. ./metrics.mjs:collect.`);
  }
  const module = (await importModule(urlOf(specifier), loader)) as Readonly<Record<string, unknown>>;
  const found = module[name];
  if (typeof found !== 'function') throw new Error(`${specifier} exports no function ${name}.`);
  return found as AnyFunction;
}

/** Imports a module by its URL; files by the function of a path that `loader` names, if there is one. */
export async function importModule(url: string, loader?: string): Promise<unknown> {
  if (loader === undefined || !url.startsWith('file:')) return await import(url);
  return await ((await importExport(loader)) as (path: string) => unknown)(fileURLToPath(url));
}

function urlOf(specifier: string): string {
  if (/^[a-z]{2,}:/i.test(specifier)) return specifier;
  if (specifier.startsWith('.')) return pathToFileURL(join(process.cwd(), specifier)).href;
  if (isAbsolute(specifier)) return pathToFileURL(specifier).href;
  return pathToFileURL(createRequire(join(process.cwd(), 'noop.js')).resolve(specifier)).href;
}
