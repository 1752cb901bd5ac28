// A worker of a real fleet as a program of its own. argv: WorkerOptions as JSON, and a file whose text says what its
// metrics provider does at its next call; each call of the provider is told over IPC.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { Worker } from '../worker.ts';
import type { WorkerOptions } from '../worker-options.ts';
import { workflow } from '../workflow.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as WorkerOptions;
const mood = process.argv[3] ?? '';
const namespace = 'fleet';
const own = { namespace, module: import.meta.url };

const flows = [
  workflow<unknown, unknown>(
    { ...own, name: 'calm', routing: 'score(least(metric("flux.loop_lag_p95_seconds"), weight=5), least(load()))' },
    () => null,
  ),
  workflow<unknown, unknown>(
    { ...own, name: 'safe', routing: 'score(prefer(metric("flux.crash_rate") < 0.1, weight=10), least(load()))' },
    () => null,
  ),
  workflow<unknown, unknown>({ ...own, name: 'any' }, () => null),
  workflow<unknown, unknown>({ ...own, name: 'crash', runner: 'subprocess', maxAttempts: 1 }, () => process.abort()),
  /** Its process dies at the first attempt, after a step. */
  workflow<string, unknown>({ ...own, name: 'fragile', runner: 'subprocess' }, async (context, file) => {
    const written = await context.task('write', () => {
      appendFileSync(file, `attempt ${context.attempt}`);
      return context.attempt;
    });
    if (context.attempt === 1) process.kill(process.pid, 'SIGKILL');
    return { written, finished: context.attempt };
  }),
  /** Blocks the event loop again and again, for less than what makes it unhealthy, until the file is there. */
  workflow<string, unknown>({ ...own, name: 'hog' }, async (context, file) => {
    while (!existsSync(file)) {
      block(400);
      await new Promise((resolve) => setTimeout(resolve, 20));
      context.signal.throwIfAborted();
    }
  }),
  workflow<number, unknown>({ ...own, name: 'block' }, (_, ms) => block(ms)),
];

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until) Math.random();
}

let calls = 0;
async function collect(): Promise<Record<string, number>> {
  calls += 1;
  process.send?.(calls);
  switch (readFileSync(mood, 'utf8')) {
    case 'throw':
      throw new Error('no sensor');
    case 'garbage':
      return { depth: 'deep', other: 2 } as unknown as Record<string, number>;
    case 'hang':
      return await new Promise(() => undefined);
    default:
      return { depth: Number(readFileSync(mood, 'utf8')), 'flux.slots_free': 99 };
  }
}

const worker = new Worker({
  ...options,
  role: 'worker',
  workflows: flows,
  ...(mood === '' ? {} : { metricsProvider: collect, metricsInterval: 0.2 }),
});
await worker.run();
