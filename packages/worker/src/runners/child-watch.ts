import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { memoryMark } from './runner-crashed.ts';

// Plain CommonJS as text: a thread has to start without whatever loads TypeScript here. It ends the whole process group,
// with what the handler has started.
const watch = `
const { workerData } = require('node:worker_threads');
const { writeSync } = require('node:fs');
function end() {
  try { process.kill(-process.pid, 'SIGKILL'); } catch { process.kill(process.pid, 'SIGKILL'); }
}
setInterval(() => {
  if (process.ppid !== workerData.parent) end();
  if (process.memoryUsage.rss() <= workerData.memoryLimitBytes) return;
  try { writeSync(2, workerData.mark + '\\n'); } catch {}
  end();
}, 100);
`;

/** Ends this process and what it has started, at once. It leads a process group; where there are none, it ends alone. */
export function endGroup(): void {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    process.kill(process.pid, 'SIGKILL');
  }
}

/**
 * Ends this process when the one that started it is gone, or when it takes more memory than it may; from a thread of its own,
 * so that a handler that blocks the event loop is ended too. Resolves when it watches.
 */
export async function watchProcess(parent: number, memoryLimitBytes: number): Promise<void> {
  const thread = new Worker(watch, {
    eval: true,
    execArgv: [],
    env: {},
    workerData: { parent, memoryLimitBytes, mark: memoryMark },
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 },
  });
  thread.unref();
  await once(thread, 'online');
}
