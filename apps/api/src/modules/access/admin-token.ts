import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { newSecret } from './secrets.ts';

/** Where the token lies in a data directory. */
export const ADMIN_TOKEN_FILE = 'admin-token';

/**
 * The bearer token of the installation: the configured one, else the one kept in the data directory (mode 0600), made at the first start.
 * Two processes that start together agree on one: the file is created exclusively.
 */
export async function loadAdminToken(configured: string | null, dataDir: string): Promise<string> {
  if (configured !== null) return configured;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, ADMIN_TOKEN_FILE);
  const made = newSecret('muster_');
  try {
    await write(file, made);
    return made;
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  }
  const kept = (await readFile(file, 'utf8')).trim();
  if (kept.length < 16) throw new Error(`${file} holds no token; delete it and start again.`);
  await chmod(file, 0o600);
  return kept;
}

/** Puts another token in the place of the one in the data directory, all at once. Answers it. */
export async function replaceAdminToken(dataDir: string, made = newSecret('muster_')): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const draft = join(dataDir, `${ADMIN_TOKEN_FILE}.${randomUUID()}`);
  await write(draft, made);
  await rename(draft, join(dataDir, ADMIN_TOKEN_FILE));
  return made;
}

async function write(file: string, token: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(`${token}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
