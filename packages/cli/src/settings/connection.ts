import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Io } from '../io.ts';

export interface ConnectionFlags {
  readonly server?: string;
  readonly token?: string;
}

export interface Connection {
  readonly url: string;
  readonly token?: string;
}

/** Name of the file in the data directory that holds the admin token. */
export const tokenFile = 'admin-token';

/**
 * Where the server is and how to be let in: the flags, then MUSTER_SERVER and MUSTER_TOKEN, then
 * `http://127.0.0.1:4000` with the token that a server started here has left in its data directory.
 */
export function resolveConnection(flags: ConnectionFlags, io: Pick<Io, 'env' | 'cwd'>): Connection {
  const url = flags.server ?? given(io.env['MUSTER_SERVER']) ?? 'http://127.0.0.1:4000';
  const token = flags.token ?? given(io.env['MUSTER_TOKEN']) ?? given(io.env['MUSTER_ADMIN_TOKEN']) ?? storedToken(io);
  return token === undefined ? { url } : { url, token };
}

function storedToken({ env, cwd }: Pick<Io, 'env' | 'cwd'>): string | undefined {
  try {
    return given(readFileSync(resolve(cwd, given(env['MUSTER_DATA_DIR']) ?? '.muster', tokenFile), 'utf8'));
  } catch {
    // No server was ever started here: the request says UNAUTHENTICATED then, which is clearer than a missing file.
    return undefined;
  }
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}
