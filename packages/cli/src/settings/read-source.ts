import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';

/** A UTF-8 file; throws a usage error where it is not there or is no UTF-8. */
export function readSource(file: string, io: Pick<Io, 'cwd'>): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(io.cwd, file));
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new CommandError(missing ? `There is no file ${file}.` : `The file ${file} cannot be read.`, exitCodes.usage);
  }
  try {
    // Its byte order mark stays: positions count from behind it, and whoever reads the text knows.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CommandError(`The file ${file} is not UTF-8.`, exitCodes.usage);
  }
}

/** A text as it was typed, `@file`, or `-` for stdin. */
export async function readTextOption(text: string, io: Pick<Io, 'cwd' | 'readStdin'>): Promise<string> {
  if (text === '-') return await io.readStdin();
  return text.startsWith('@') ? readSource(text.slice(1), io) : text;
}
