import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A worker's credential as it is kept from one start to the next. */
export interface KeptCredential {
  readonly server: string;
  readonly worker: string;
  readonly credential: string;
  /** By the server's clock. */
  readonly expiresAt: string;
  /** ms since 1970 by this machine's clock: when it should be renewed. */
  readonly renewAt: number;
}

/** undefined: there is none, or it is of another server or worker. Throws where the file cannot be read, or says something else. */
export async function readCredential(
  file: string,
  server: string,
  worker: string,
): Promise<KeptCredential | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const kept = parse(text);
  if (kept === undefined) throw new Error(`${file} holds no credential of a worker; delete it, and join again.`);
  return kept.server === server && kept.worker === worker ? kept : undefined;
}

/** Makes sure that it could be written, before anything is done that cannot be done again. */
export async function prepareFile(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writePrivately(draftOf(file), '');
}

/** Readable by this user alone, and whole at every moment: a worker that is killed while it writes finds the old one. */
export async function writeCredential(file: string, kept: KeptCredential): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = draftOf(file);
  await writePrivately(draft, `${JSON.stringify(kept, null, 2)}\n`);
  await rename(draft, file);
}

async function writePrivately(file: string, text: string): Promise<void> {
  // One that was left behind may have been readable by others.
  await rm(file, { force: true });
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(file, 0o600);
}

function draftOf(file: string): string {
  return `${file}.new`;
}

function parse(text: string): KeptCredential | undefined {
  try {
    const kept = JSON.parse(text) as Record<string, unknown>;
    const texts = ['server', 'worker', 'credential', 'expiresAt'].every((key) => typeof kept[key] === 'string');
    return texts && typeof kept['renewAt'] === 'number' ? (kept as unknown as KeptCredential) : undefined;
  } catch {
    return undefined;
  }
}
