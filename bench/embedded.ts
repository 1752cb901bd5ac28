// How the embedded database bears up: many executions submitted and run while a dashboard is open. Its subscriptions stay open, and a list page is asked
// for five times a second. `npx tsx bench/embedded.ts [executions]`, after `npm run setup`.
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { ask, muster } from './muster.ts';

const executions = Number(process.argv[2] ?? 200_000);
const batch = 500;
const page =
  '{ workers(first: 50) { nodes { name status load } } executions(first: 50) { nodes { id state why } } fleetMetrics { running } }';

const server = await muster(null);
// A socket of its own, as a browser has.
const dashboard = createClient({
  url: `${server.url.replace('http', 'ws')}/graphql`,
  webSocketImpl: WebSocket,
  connectionParams: { token: 'bench-token-of-one-run-only' },
  lazy: false,
});
let events = 0;
for (const query of [
  'subscription { workerEvents { kind sequence workers { name status load } } }',
  'subscription { executionChanges { kind sequence executions { id state } } }',
  'subscription { fleetMetrics { running pending completedPerSecond } }',
]) {
  dashboard.subscribe({ query }, { next: () => void (events += 1), error: console.error, complete: () => undefined });
}

const waits: number[] = [];
let watching = true;
const watch = (async () => {
  while (watching) {
    const begun = performance.now();
    await ask(dashboard, page);
    waits.push(performance.now() - begun);
    await delay(200);
  }
})();

const report = (phase: string, seconds: number, count: number): void => {
  const sorted = waits.splice(0).toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  console.log(
    `| ${phase} | ${Math.round(count / seconds).toLocaleString('en')} | ${at(0.5)} ms | ${at(0.95)} ms | ${at(1)} ms | ${sorted.length} |`,
  );
};

console.log(`${executions.toLocaleString('en')} executions, embedded database, an open dashboard`);
console.log('| | executions/s | page p50 | p95 | longest | pages read |');
console.log('|---|---|---|---|---|---|');
const begun = performance.now();
for (let n = 0; n < executions; n += batch) {
  await server.submitMany(Array.from({ length: batch }, (_, index) => ({ n: n + index })));
}
report('submitted, nobody on duty', (performance.now() - begun) / 1000, executions);
const drained = await server.drain(executions);
report('run by one worker', drained / 1000, executions);
await delay(5_000);
report('idle afterwards', 5, 0);
watching = false;
await watch;
console.log(`${events.toLocaleString('en')} events reached the dashboard`);
await dashboard.dispose();
await server.close();
