import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Flags of Node that decide how modules are found and read; everything else is this process's own. */
const kept = new Set(['--import', '--require', '-r', '--loader', '--experimental-loader', '--conditions', '-C']);
const keptAlone = new Set(['--enable-source-maps', '--experimental-strip-types', '--no-warnings']);

/** Whether this Node reads TypeScript by itself. */
const stripsTypes = Boolean((process.features as { readonly typescript?: string | false }).typescript);

/** The program of a child: as it was bundled beside this file, else from source. */
export function childProgram(): string {
  const bundled = new URL('./runner-child.mjs', import.meta.url);
  return fileURLToPath(existsSync(bundled) ? bundled : new URL('./child-main.ts', import.meta.url));
}

/** Flags of Node for a child: as this process reads modules, with a heap of that size. */
export function childFlags(program: string, memoryLimitMb: number, own: readonly string[]): string[] {
  const flags: string[] = [];
  for (const [index, flag] of own.entries()) {
    const value = own[index + 1];
    if (kept.has(flag) && value !== undefined) flags.push(flag, value);
    else if (keptAlone.has(flag) || kept.has(flag.split('=', 1)[0] ?? '')) flags.push(flag);
  }
  const readsTypeScript = flags.some((flag) => flag.includes('tsx')) || stripsTypes;
  if (program.endsWith('.ts') && !readsTypeScript) flags.push('--import', import.meta.resolve('tsx'));
  return [...flags, `--max-old-space-size=${memoryLimitMb}`];
}

/** A token as short as this may be part of anything. */
const shortestSecret = 12;

/** The environment of a child: without the worker's tokens, in whatever variable they are. */
export function childEnvironment(own: NodeJS.ProcessEnv, tokens: readonly string[]): NodeJS.ProcessEnv {
  const secret = new Set(['MUSTER_TOKEN', 'MUSTER_ADMIN_TOKEN', 'MUSTER_JOIN_TOKEN', 'MUSTER_CREDENTIAL_FILE']);
  const tells = (value: string | undefined) =>
    value !== undefined &&
    tokens.some((token) => value === token || (token.length >= shortestSecret && value.includes(token)));
  return Object.fromEntries(Object.entries(own).filter(([name, value]) => !secret.has(name) && !tells(value)));
}
