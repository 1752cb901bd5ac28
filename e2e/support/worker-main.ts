// A worker process of the tests: the real SDK, workflows whose progress the test can see and hold.
// argv[2] is a WorkerSettings as JSON; what happens is told over IPC.
import { existsSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker, workflow } from '@muster/worker';
import type { WorkerNews, WorkerSettings } from './worker-settings.ts';

const settings: WorkerSettings = JSON.parse(process.argv[2] ?? '{}');

function tell(news: WorkerNews): void {
  process.send?.(news);
}

const echo = workflow(
  { namespace: 'e2e', name: `${settings.prefix}echo`, routing: settings.routing, affinity: settings.affinity },
  (ctx) => Promise.resolve({ by: settings.name, input: ctx.input }),
);

/** Runs until the file that the input names exists. A stubborn one does not heed that its claim is lost. */
function holdUntilGate(name: string, stubborn: boolean) {
  return workflow({ namespace: 'e2e', name: `${settings.prefix}${name}`, routing: settings.routing }, async (ctx) => {
    const { gate } = ctx.input as { gate: string };
    tell({ kind: 'holding', execution: ctx.executionId });
    while (!existsSync(gate)) await delay(25, undefined, stubborn ? {} : { signal: ctx.signal });
    tell({ kind: 'released', execution: ctx.executionId });
    return { by: settings.name };
  });
}

/** Does a task, says so, waits for somebody's word, and returns it. */
const approve = workflow({ namespace: 'e2e', name: `${settings.prefix}approve` }, async (ctx) => {
  const draft = await ctx.task('draft', () => ({ pages: 3 }));
  ctx.log('the draft is done', draft);
  ctx.progress(0.5, 'half-way');
  return { said: await ctx.pause('approval') };
});

/** Longer than any test. */
const nap = workflow({ namespace: 'e2e', name: `${settings.prefix}nap` }, (ctx) => ctx.sleep(3_600_000));

const delegate = workflow({ namespace: 'e2e', name: `${settings.prefix}delegate` }, (ctx) =>
  ctx.call(`e2e/${settings.prefix}approve`, ctx.input),
);

/** More steps than a page shows: one with a long result, one that fails, and sixty that say their number. */
const tally = workflow({ namespace: 'e2e', name: `${settings.prefix}tally` }, async (ctx) => {
  await ctx.task('survey', () => Array.from({ length: 40 }, (_, line) => `line ${line}`));
  await ctx.task('print', () => Promise.reject(new Error('no paper'))).catch(() => ctx.log('not printed'));
  for (let page = 1; page <= 60; page += 1) await ctx.task(`page ${page}`, () => page);
});

const worker = new Worker({
  server: settings.server,
  token: settings.token,
  name: settings.name,
  role: settings.role,
  labels: settings.labels,
  capacity: settings.capacity,
  workflows: [echo, holdUntilGate('hold', false), holdUntilGate('stubborn', true), approve, nap, delegate, tally],
  signals: false,
});

process.once('SIGTERM', () => void worker.stop());
await worker.run();
