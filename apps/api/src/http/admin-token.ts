import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The bearer token of the installation: the configured one, else the one kept in the data directory (mode 0600), made at the first start.
 * Two processes that start together agree on one: the file is created exclusively.
 */
export async function loadAdminToken(configured: string | null, dataDir: string): Promise<string> {
  if (configured !== null) return configured;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'admin-token');
  const made = `muster_${randomBytes(32).toString('base64url')}`;
  try {
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(`${made}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return made;
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error;
  }
  const kept = (await readFile(file, 'utf8')).trim();
  if (kept.length < 16) throw new Error(`${file} holds no token; delete it and start again.`);
  await chmod(file, 0o600);
  return kept;
}
