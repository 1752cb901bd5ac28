import PgBoss from 'pg-boss';
import type { Contestant } from './contestant.ts';

const queue = 'bench';

/** pg-boss with a loop of our own that fetches and completes in batches, its fastest way. */
export async function pgBoss(url: string): Promise<Contestant> {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(queue);

  const lane = async (state: { done: number }, count: number) => {
    while (state.done < count) {
      const jobs = await boss.fetch(queue, { batchSize: 200 });
      if (jobs.length === 0) continue;
      await boss.complete(
        queue,
        jobs.map((job) => job.id),
      );
      state.done += jobs.length;
    }
  };

  return {
    name: 'pg-boss',
    how: 'insert of 500; four fetch loops of 200',
    submitMany: (payloads) => boss.insert(payloads.map((data) => ({ name: queue, data }))),
    submitOne: async (payload) => {
      await boss.send(queue, payload);
    },
    drain: async (count) => {
      const begun = performance.now();
      const state = { done: 0 };
      await Promise.all(Array.from({ length: 4 }, () => lane(state, count)));
      return performance.now() - begun;
    },
    close: () => boss.stop({ graceful: false }),
  };
}
