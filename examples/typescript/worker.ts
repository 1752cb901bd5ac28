// The same as a program of its own:  MUSTER_TOKEN=$(cat .muster/admin-token) npx tsx examples/typescript/worker.ts
import { statfs } from 'node:fs/promises';
import { Worker } from '@muster/worker';
import { statistics, wait } from './flows.ts';

const worker = new Worker({
  role: 'worker',
  labels: { region: 'eu' },
  capacity: 4,
  workflows: [statistics, wait],
  // A worker with a failing check is given no work.
  checks: {
    disk: async () => {
      const { bavail, blocks } = await statfs('.');
      return { healthy: bavail / blocks > 0.02, message: `${Math.round((100 * bavail) / blocks)} % free` };
    },
  },
  // Policies can rank by it: most(metric("heap.free_bytes")).
  metricsProvider: () => {
    const { heapTotal, heapUsed } = process.memoryUsage();
    return { 'heap.free_bytes': heapTotal - heapUsed };
  },
});

// Resolves when it has drained (SIGTERM) or stopped.
const reason = await worker.run();
process.exitCode = reason === 'replaced' ? 1 : 0;
