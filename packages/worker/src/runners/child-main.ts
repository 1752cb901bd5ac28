// A process that runs one handler for a worker and ends. It loads the module of the ChildSetup in its environment, and
// talks with the worker over its channel.
import { systemClock } from '../clock.ts';
import { surviveLeftBehind } from '../durable/left-behind.ts';
import { describeError } from '../handler-error.ts';
import { HandlerRun } from '../handler-run.ts';
import { importModule } from '../metrics/import-export.ts';
import type { RunHost, RunningHandler, Settled } from '../run-host.ts';
import type { Workflow } from '../workflow.ts';
import { endGroup, watchProcess } from './child-watch.ts';
import { becomeChild } from './child-workflows.ts';
import { type ChildSetup, type FromChild, type HostMethod, setupVariable, type ToChild } from './messages.ts';

const { module, loader, memoryLimitBytes, parent } = JSON.parse(process.env[setupVariable] ?? '{}') as ChildSetup;
delete process.env[setupVariable];
const declared = new Map<string, Workflow>();
const asked = new Map<number, (answer: never) => void>();
let asks = 0;
let handler: RunningHandler | undefined;
let settled = false;

// Written where the worker shows what the process says.
surviveLeftBehind((error) => process.stderr.write(`A handler has left behind a call that failed: ${String(error)}\n`));
const watched = watchProcess(parent, memoryLimitBytes);
process.on('disconnect', () => {
  // The worker is gone: what the handler has started goes too, as when its end is seen by the watch.
  if (!settled) endGroup();
  process.exit(0);
});
// Whoever stops the worker stops this process too, where all of a group or a service get the signal: the worker decides.
process.on('SIGTERM', () => undefined);
process.on('SIGINT', () => undefined);

const loaded = load();
process.on('message', (message) => void receive(message as ToChild));
send({ kind: 'ready' });

/** Resolves with undefined when the module is loaded, or as far as it has to be; else with what it threw. */
async function load(): Promise<{ error: unknown } | undefined> {
  const running = new Promise<void>((resolve) => becomeChild({ declared, onWorkerRun: resolve }));
  try {
    await Promise.race([importModule(module, loader ?? undefined), running]);
    return undefined;
  } catch (error) {
    return { error };
  }
}

async function receive(message: ToChild): Promise<void> {
  switch (message.kind) {
    case 'answer':
      asked.get(message.id)?.(message.answer as never);
      asked.delete(message.id);
      return;
    case 'abort':
      handler?.abort(message.cause);
      return;
    case 'run':
      await settle(message);
  }
}

async function settle(message: ToChild & { kind: 'run' }): Promise<void> {
  const how = await run(message);
  settled = true;
  send({ kind: 'settled', settled: how }, () => process.disconnect());
}

async function run({ job, longSleepMs, transient }: ToChild & { kind: 'run' }): Promise<Settled> {
  await watched;
  const failure = await loaded;
  if (failure !== undefined) return { kind: 'threw', error: describeError(failure.error) };
  const workflow = declared.get(job.workflow);
  if (workflow === undefined) {
    const message = `${module} declares no workflow ${job.workflow}.`;
    return { kind: 'threw', error: { type: 'RunnerError', message, retryable: false } };
  }
  handler = new HandlerRun({
    workflow,
    job,
    host,
    clock: systemClock,
    random: Math.random,
    longSleepMs,
    transient: (ref) => (transient.includes(ref) ? declared.get(ref) : undefined),
  });
  return await handler.settled;
}

const host: RunHost = {
  recordStep: (step) => ask('recordStep', step),
  call: (call) => ask('call', call),
  suspend: (positions) => ask('suspend', positions),
  event: (event) => ask('event', event),
};

function ask<TAnswer>(method: HostMethod, argument: unknown): Promise<TAnswer> {
  asks += 1;
  const id = asks;
  return new Promise((resolve) => {
    asked.set(id, resolve);
    send({ kind: 'ask', id, method, argument });
  });
}

// The channel may have closed: then the process is about to end.
function send(message: FromChild, sent: () => void = () => undefined): void {
  if (process.connected) process.send?.(message, undefined, undefined, sent);
}
