import { Worker } from '../worker.ts';
import type { WorkerOptions } from '../worker-options.ts';
import type { ProtocolServer } from './protocol-server.ts';

/** Starts a worker on the stand-in server, quick to give up and silent. Resolves when the server has taken it. */
export async function startWorker(
  server: ProtocolServer,
  options: Partial<WorkerOptions> & Pick<WorkerOptions, 'workflows'>,
): Promise<Worker> {
  const worker = new Worker({
    server: server.url,
    name: 'w-1',
    role: 'worker',
    signals: false,
    graceSeconds: 0.1,
    log: () => undefined,
    ...options,
  });
  worker.run().catch(() => undefined);
  await worker.ready;
  return worker;
}
