import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { lockDataDir } from './data-dir-lock.ts';

/** `sun_path` holds 104 bytes on macOS and 108 on Linux, with a NUL at the end. */
const MAX_SOCKET_PATH = 103;
const SOCKET_NAME = '.s.PGSQL.5432';
const STOP_MS = 8000;

export interface EmbeddedServer {
  /** The directory of the socket: what the driver takes as its host. */
  readonly host: string;
  stop(): Promise<void>;
}

/**
 * Starts the embedded database of a data directory in a thread of its own. Creates the directory (for its owner only) where it is missing.
 * Killing the process loses nothing that was acknowledged; a power failure may, because nothing is forced to the disk.
 *
 * @param onFailure told once if the database dies after its start; nothing can be read or written from then on.
 * @throws Error where another process has the directory open, or the database cannot be started.
 */
export async function startEmbedded(
  dataDir: string,
  options: { workerFile?: string; onFailure: (error: Error) => void },
): Promise<EmbeddedServer> {
  const home = resolve(dataDir);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  // Also where it was there: whoever reaches the socket in it is the database's superuser.
  chmodSync(home, 0o700);
  const lock = lockDataDir(home);
  const socket = socketDir(home);
  try {
    const worker = await startWorker(home, socket.dir, options);
    return {
      host: socket.dir,
      stop: async () => {
        await stopWorker(worker);
        socket.remove();
        lock.release();
      },
    };
  } catch (error) {
    socket.remove();
    lock.release();
    throw error;
  }
}

async function startWorker(
  home: string,
  socketDirectory: string,
  options: { workerFile?: string; onFailure: (error: Error) => void },
): Promise<Worker> {
  const workerData = { dataDir: join(home, 'database'), socketPath: join(socketDirectory, SOCKET_NAME) };
  const worker = new Worker(options.workerFile ?? workerFile(), { workerData, execArgv: [] });
  await new Promise<void>((started, failed) => {
    let up = false;
    const fail = (why: string): void => {
      const error = new Error(`the embedded database in ${home} has failed: ${why}`);
      if (up) options.onFailure(error);
      else failed(error);
    };
    worker.on('message', (message: { type: string; message?: string }) => {
      if (message.type === 'up') {
        up = true;
        started();
      } else if (message.type === 'failed') fail(message.message ?? 'unknown');
    });
    worker.once('error', (error: Error) => fail(error.message));
    worker.once('exit', (code) => {
      if (code !== 0) fail(`its thread ended with ${code}`);
    });
  }).catch(async (error: unknown) => {
    await worker.terminate();
    throw error;
  });
  // The server's own listeners keep the process alive, not its database.
  worker.unref();
  return worker;
}

async function stopWorker(worker: Worker): Promise<void> {
  worker.removeAllListeners('exit');
  worker.ref();
  const ended = new Promise<void>((done) => worker.once('exit', () => done()));
  const timer = setTimeout(() => void worker.terminate(), STOP_MS);
  worker.postMessage('stop');
  await ended;
  clearTimeout(timer);
}

/** The thread's file stands beside this one, in the sources and in a bundle. */
function workerFile(): string {
  return fileURLToPath(new URL('./pglite-worker.mjs', import.meta.url));
}

function socketDir(home: string): { dir: string; remove: () => void } {
  const path = join(home, SOCKET_NAME);
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) {
    // Whoever died holding the lock left its socket behind.
    rmSync(path, { force: true });
    return { dir: dirname(path), remove: () => rmSync(path, { force: true }) };
  }
  const base = Buffer.byteLength(tmpdir()) < MAX_SOCKET_PATH - 40 || !existsSync('/tmp') ? tmpdir() : '/tmp';
  const dir = mkdtempSync(join(base, 'muster-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
