import { Logger, makeWorkerUtils, run, type RunnerOptions } from 'graphile-worker';
import pg from 'pg';
import type { Contestant } from './contestant.ts';

const silent = new Logger(() => () => {});

/** Without localQueue one job is fetched at a time; with it they are fetched and completed in batches. */
export async function graphileWorker(url: string, batched: boolean): Promise<Contestant> {
  const pool = new pg.Pool({ connectionString: url, max: 20 });
  pool.on('error', (error) => console.error(error));
  pool.on('connect', (client) => client.on('error', (error) => console.error(error)));
  const utils = await makeWorkerUtils({ pgPool: pool, logger: silent });
  await utils.migrate();

  return {
    name: batched ? 'graphile-worker, batched' : 'graphile-worker',
    how: batched
      ? 'add_jobs of 500; localQueue of 500, completion batched'
      : 'add_jobs of 500; 24 at a time, no localQueue',
    submitMany: async (payloads) => {
      await utils.addJobs(payloads.map((payload) => ({ identifier: 'bench', payload })));
    },
    submitOne: async (payload) => {
      await utils.addJob('bench', payload);
    },
    drain: async (count) => {
      let done = 0;
      let finished = () => {};
      const all = new Promise<void>((resolve) => {
        finished = resolve;
      });
      const task = () => {
        done += 1;
        if (done === count) finished();
      };
      const options: RunnerOptions = {
        pgPool: pool,
        logger: silent,
        concurrency: 24,
        noHandleSignals: true,
        taskList: { bench: task },
        ...(batched
          ? { preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } } }
          : {}),
      };
      const begun = performance.now();
      const runner = await run(options);
      await all;
      // Stops after what is in flight is written.
      await runner.stop();
      return performance.now() - begun;
    },
    close: async () => {
      await utils.release();
      await pool.end();
    },
  };
}
