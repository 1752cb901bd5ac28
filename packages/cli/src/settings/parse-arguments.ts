import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';

/**
 * `key=value` options to an object; split at the first `=`, values stay text and may be empty. `what` names the option
 * in messages. Keys are shown, values never: routing input is confidential.
 */
export function parsePairs(pairs: readonly string[], what: string): Record<string, string> {
  const parsed = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const key = pair.slice(0, Math.max(at, 0)).trim();
    if (at === -1 || key === '') throw usage(`${what} takes key=value, with a key before the first "=".`);
    if (parsed.has(key)) throw usage(`${what} gives "${key}" twice.`);
    parsed.set(key, pair.slice(at + 1));
  }
  return Object.fromEntries(parsed);
}

/** INPUT of a run: JSON, `@file` with JSON, or `-` for JSON on stdin; absent: none. Throws a usage error otherwise. */
export async function parseInput(text: string | undefined, io: Pick<Io, 'cwd' | 'readStdin'>): Promise<unknown> {
  if (text === undefined) return undefined;
  const json = await readInput(text, io);
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usage(`INPUT is not JSON (${why}). Quote it for your shell, e.g. '{"text": "hello"}', or give @FILE or -.`);
  }
}

/** A whole number within bounds, both inclusive. */
export function parseWhole(text: string, what: string, low: number, high: number): number {
  const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= low && value <= high)) throw usage(`${what} must be a whole number from ${low} to ${high}.`);
  return value;
}

async function readInput(text: string, io: Pick<Io, 'cwd' | 'readStdin'>): Promise<string> {
  if (text === '-') return await io.readStdin();
  if (!text.startsWith('@')) return text;
  try {
    return readFileSync(resolve(io.cwd, text.slice(1)), 'utf8');
  } catch {
    throw usage(`The file ${text.slice(1)} cannot be read.`);
  }
}

function usage(message: string): CommandError {
  return new CommandError(message, exitCodes.usage);
}
