// A worker process of the soak: the real SDK and flows with tasks, pauses, timers and children, whose handlers keep a journal.
import { appendFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { type ExecutionContext, Worker, workflow } from '@muster/worker';
import type { HandlerLine, SoakInput, SoakWorkerSettings } from './soak-settings.ts';

const settings: SoakWorkerSettings = JSON.parse(process.argv[2] ?? '{}');

function note(ctx: ExecutionContext<SoakInput>, did: HandlerLine['did'], position?: number): void {
  const line: HandlerLine = {
    did,
    execution: ctx.executionId,
    generation: ctx.generation,
    worker: settings.name,
    ...(position === undefined ? {} : { position }),
  };
  appendFileSync(settings.journal, `${JSON.stringify(line)}\n`);
}

type SoakHandler = (ctx: ExecutionContext<SoakInput>) => Promise<unknown>;

function soakFlow(name: string, handler: SoakHandler) {
  // Attempts are lost by the dozen here, on purpose: none of them is to run out.
  return workflow<SoakInput, unknown>({ namespace: 'soak', name, maxAttempts: 100 }, async (ctx) => {
    note(ctx, 'start');
    const output = await handler(ctx);
    note(ctx, 'end');
    return output;
  });
}

/** A task that takes its time; `position` is where the flow calls it. */
function task(ctx: ExecutionContext<SoakInput>, position: number): Promise<number> {
  return ctx.task(`piece-${position}`, async ({ signal }) => {
    note(ctx, 'task', position);
    await delay(ctx.input.ms, undefined, { signal });
    return ctx.input.number + position;
  });
}

const plain = soakFlow('plain', async (ctx) => {
  await delay(ctx.input.ms, undefined, { signal: ctx.signal });
  return ctx.input.number;
});

const tasks = soakFlow('tasks', async (ctx) => {
  const first = await task(ctx, 0);
  const [second, third] = await Promise.all([task(ctx, 1), task(ctx, 2)]);
  return [first, second, third];
});

const paused = soakFlow('paused', async (ctx) => {
  const before = await task(ctx, 0);
  const answer = await ctx.pause<number>('gate');
  const after = await task(ctx, 2);
  return [before, answer, after];
});

const parent = soakFlow('parent', (ctx) =>
  Promise.all([ctx.call(plain, ctx.input), ctx.call(tasks, { ...ctx.input, number: ctx.input.number + 1 })]),
);

const napper = soakFlow('napper', async (ctx) => {
  await ctx.sleep(ctx.input.ms);
  return ctx.input.number;
});

const worker = new Worker({
  server: settings.server,
  token: settings.token,
  name: settings.name,
  role: 'worker',
  capacity: settings.capacity,
  workflows: [plain, tasks, paused, parent, napper],
  signals: false,
});
process.once('SIGTERM', () => void worker.stop());
await worker.run();
