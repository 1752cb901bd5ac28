import manifest from '../package.json' with { type: 'json' };
import { Worker, type Workflow } from '@muster/worker';
import type { Config } from './config.ts';
import type { Log } from './log.ts';

/** Time that running handlers have to come to their end at a stop. */
const DRAIN_MS = 2_000;

/**
 * The worker inside the server, connected over the loopback like any other. It runs the workflows given to it, none other.
 */
export function startEmbeddedWorker(options: {
  config: Config;
  url: string;
  token: string;
  workflows: readonly Workflow[];
  log: Log;
}): { close(): Promise<void> } {
  const { config, url, token, workflows, log } = options;
  const worker = new Worker({
    server: url,
    token,
    name: config.workerName,
    role: config.role,
    version: manifest.version,
    workflows,
    signals: false,
    graceSeconds: 1,
    log: (level, message, fields) => log[level]({ worker: config.workerName, ...fields }, message),
  });
  const ended = worker.run().catch((error: unknown) => log.error({ err: error }, 'the embedded worker has ended'));
  return {
    async close() {
      const late = setTimeout(() => void worker.stop(), DRAIN_MS);
      await worker.drain();
      clearTimeout(late);
      await ended;
    },
  };
}
