import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../database.ts';
import { migrate } from '../migrate.ts';

const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url));
const MIGRATIONS = fileURLToPath(new URL('../../migrations/', import.meta.url));
const DAY_MS = 86_400_000;

/**
 * Fills `dataDir` with a migrated embedded database. Making one takes seconds, copying one does not: the first run keeps one, named by
 * everything that it was made from. The day's partitions are those of the day it was made; tests call maintain_partitions where they matter.
 */
export async function copyEmbeddedTemplate(dataDir: string): Promise<void> {
  const template = join(CACHE, `embedded-${templateKey()}`);
  if (!existsSync(template)) await makeTemplate(template);
  cpSync(template, dataDir, { recursive: true });
}

async function makeTemplate(template: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  removeOld();
  const draft = mkdtempSync(join(CACHE, 'draft-'));
  const database = await openDatabase({ dataDir: draft });
  await migrate(database);
  // Tests have no data directory of the same secrets, which are made again at the next migration run.
  await database.query('DELETE FROM secret');
  await database.close();
  try {
    renameSync(draft, template);
  } catch {
    // Another process was faster.
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Templates of other days and other migrations; what is younger than a day may be in use. */
function removeOld(): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name);
    if (Date.now() - statSync(path).mtimeMs > DAY_MS) rmSync(path, { recursive: true, force: true });
  }
}

function templateKey(): string {
  const hash = createHash('sha256');
  const pglite = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  hash.update(pglite).update(new Date().toISOString().slice(0, 10));
  for (const name of readdirSync(MIGRATIONS).sort()) {
    const file = join(MIGRATIONS, name, 'migration.sql');
    if (existsSync(file)) hash.update(name).update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 16);
}
