// A worker whose handlers leave promises behind. argv: the server.
import process from 'node:process';
import { Worker } from '../worker.ts';
import { workflow } from '../workflow.ts';

/** Begins a chain that it only wants later, and waits for something else meanwhile. */
const chains = workflow<null, unknown>({ namespace: 'test', name: 'chains' }, async (ctx) => {
  const later = (async () => {
    await ctx.sleep(20_000);
    return 'later';
  })();
  const wrapped = (async () => {
    await ctx.sleep(20_000).catch((cause: unknown) => {
      throw new Error('wrapped', { cause });
    });
  })();
  await ctx.sleep(20_000);
  return [await later, await wrapped];
});

const quick = workflow<null, unknown>({ namespace: 'test', name: 'quick' }, () => 'still here');

/** Forgets a promise of its own that fails. */
const careless = workflow<null, unknown>({ namespace: 'test', name: 'careless' }, async () => {
  void Promise.reject(new Error('nobody handles this'));
  return await new Promise(() => undefined);
});

const worker = new Worker({
  server: process.argv[2] ?? '',
  name: 'w-1',
  role: 'worker',
  workflows: [chains, quick, careless],
  log: (level, message) => process.stdout.write(`${level}: ${message}\n`),
});
await worker.run();
