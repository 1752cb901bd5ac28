import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Loader, Plugin } from 'esbuild';

/** What `@muster/worker` is to such a module: this program's own copy, so that a file can lie anywhere. */
const sdk = '@muster/worker';
const loaders: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.tsx': 'tsx',
  '.js': 'js',
  '.mjs': 'js',
  '.jsx': 'jsx',
};

/**
 * Imports a file of somebody else as an ES module, TypeScript included, on every supported Node, and without regard to the
 * `type` of the package it lies in: it is compiled together with the files that it imports by path. Packages stay outside and
 * are found from where the file lies. Errors of compiling name file and line.
 */
export async function importUserModule(path: string): Promise<object> {
  const { build } = await import('esbuild');
  const dir = await mkdtemp(join(tmpdir(), 'muster-'));
  try {
    const compiled = join(dir, 'module.mjs');
    await build({
      entryPoints: [path],
      outfile: compiled,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      sourcemap: 'inline',
      logLevel: 'silent',
      define: { 'import.meta.url': ownUrl },
      plugins: [outside, withOwnUrl],
    });
    process.setSourceMapsEnabled(true);
    return (await import(pathToFileURL(compiled).href)) as object;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const ownUrl = '__own_module_url__';

/** Each file keeps its own `import.meta.url`, although all of them end up in one. */
const withOwnUrl: Plugin = {
  name: 'own-url',
  setup(build) {
    build.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, async ({ path }) => {
      const loader = loaders[extname(path)];
      if (loader === undefined) return undefined;
      const text = await readFile(path, 'utf8');
      if (!text.includes('import.meta.url')) return { loader, contents: text };
      // On the line that is there, so that line numbers stay; after a shebang, which has to come first.
      const shebang = /^#!.*\n/.exec(text)?.[0] ?? '';
      const own = `const ${ownUrl} = ${JSON.stringify(pathToFileURL(path).href)}; `;
      return { loader, contents: shebang + own + text.slice(shebang.length) };
    });
  },
};

const seen = Symbol('seen');

/** Packages are imported from where they are, unless they consist of TypeScript. */
const outside: Plugin = {
  name: 'outside',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
      if (kind === 'entry-point' || pluginData === seen) return undefined;
      if (path === sdk) return { path: sdkUrl(), external: true };
      if (isBuiltin(path)) return { path, external: true };
      const found = await build.resolve(path, { importer, kind, resolveDir, pluginData: seen });
      if (found.errors.length > 0 || /\.[cm]?tsx?$/.test(found.path)) return found;
      return { path: pathToFileURL(found.path).href, external: true };
    });
  },
};

/** Where {@link importUserModule} is, as `module:export`, for processes that import a module by themselves. */
export function userModuleLoader(): string {
  const bundled = new URL('./import-user-module.mjs', import.meta.url);
  return `${existsSync(bundled) ? bundled.href : new URL('./import-user-module.ts', import.meta.url).href}:importUserModule`;
}

function sdkUrl(): string {
  const bundled = new URL('./worker-sdk.mjs', import.meta.url);
  return (existsSync(bundled) ? bundled : new URL('../../worker/src/index.ts', import.meta.url)).href;
}
