// A worker as a program of its own, to be killed. argv: server, token, name, and the folder in which its tasks leave lines.
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from '../worker.ts';
import { workflow } from '../workflow.ts';

const [server = '', token = '', name = '', folder = ''] = process.argv.slice(2);

const say = (line: string): string => {
  appendFileSync(join(folder, 'lines'), `${line}\n`);
  return line;
};

/** Three tasks; the last one takes until there is a file `go`. */
const steady = workflow<null, unknown>({ namespace: 'durable', name: 'steady' }, async (ctx) => {
  const [a, b] = await Promise.all([
    ctx.task('same', async () => {
      await delay(50);
      return say('a');
    }),
    ctx.task('same', () => say('b')),
  ]);
  const at = await ctx.now();
  const c = await ctx.task('last', async () => {
    say('c begins');
    while (!existsSync(join(folder, 'go'))) await delay(20);
    return say('c');
  });
  return { order: [a, b, c], sameClock: at === (await ctx.task('clock', () => at)) };
});

/** One task, a pause, and one more. */
const approval = workflow<null, unknown>({ namespace: 'durable', name: 'approval' }, async (ctx) => {
  try {
    const before = await ctx.task('before', () => say('before'));
    const input = await ctx.pause('approval');
    return { before, input, after: await ctx.task('after', () => say('after')) };
  } finally {
    say(`left on ${name}`);
  }
});

const worker = new Worker({
  server,
  token,
  name,
  role: 'durable',
  workflows: [steady, approval],
  log: () => undefined,
});
await worker.run();
