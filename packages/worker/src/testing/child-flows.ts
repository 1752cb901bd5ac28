// Workflows for processes of their own, as the module of a user has them.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { workflow } from '../workflow.ts';

const settings = { namespace: 'child', runner: 'subprocess', module: import.meta.url } as const;

export const echo = workflow<unknown, unknown>({ ...settings, name: 'echo' }, (context, input) => {
  context.log('seen', { pid: process.pid });
  return { input, pid: process.pid, attempt: context.attempt };
});

export const steps = workflow<unknown, unknown>({ ...settings, name: 'steps' }, async (context) => {
  const first = await context.task('first', () => 1);
  const answer = await context.pause('approval');
  return { first, answer };
});

export const fail = workflow<unknown, unknown>({ ...settings, name: 'fail' }, () => {
  throw new RangeError('as asked');
});

/** What a handler in a process of its own asks the server with, and who else could see that. */
export const asking = workflow<unknown, unknown>({ ...settings, name: 'asking' }, async (context) => {
  const { id } = await context.task('start', () =>
    context.client.runWorkflow({ workflow: 'own/leaf', input: 'child' }),
  );
  const seen = `${JSON.stringify(process.env)} ${process.argv.join(' ')} ${process.execArgv.join(' ')}`;
  return { id, kind: context.token.slice(0, 4), seen: seen.includes(context.token) || seen.includes('msw_') };
});

export const environment = workflow<unknown, unknown>({ ...settings, name: 'environment' }, () => process.env);

/** Dies as the input says. */
export const die = workflow<{ how: string }, unknown>({ ...settings, name: 'die' }, async (_, { how }) => {
  switch (how) {
    case 'exit':
      process.stderr.write(`${'x'.repeat(9_000)}\nlast words\n`);
      return process.exit(3);
    case 'signal':
      process.kill(process.pid, 'SIGSEGV');
      break;
    case 'throw':
      setTimeout(() => {
        throw new Error('out of nowhere');
      });
      break;
    case 'heap': {
      const kept: unknown[] = [];
      for (;;) kept.push(Array.from({ length: 1_000 }, (_unused, i) => ({ i })));
    }
    case 'buffers': {
      const kept: Buffer[] = [];
      for (;;) kept.push(Buffer.alloc(8 * 1024 * 1024, 1));
    }
  }
  return await new Promise(() => undefined);
});

/** Ends with its signal; says first that it runs. */
export const wait = workflow<unknown, unknown>({ ...settings, name: 'wait' }, (context) => {
  context.event('pid', process.pid);
  return new Promise((_, reject) => {
    context.signal.addEventListener('abort', () => reject(context.signal.reason as Error));
  });
});

/** Ends when the file is there, or with its signal. */
export const until = workflow<string, unknown>({ ...settings, name: 'until' }, async (context, file) => {
  context.event('waits');
  while (!existsSync(file)) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    context.signal.throwIfAborted();
  }
  return null;
});

/** Never ends; says which process it is, and which one it has started. */
export const start = workflow<unknown, unknown>({ ...settings, name: 'start' }, (context) => {
  const started = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
  context.event('pids', [process.pid, started.pid]);
  return new Promise(() => undefined);
});

/** Heeds no signal: blocks its event loop for ever, with a process that it has started. */
export const block = workflow<unknown, unknown>({ ...settings, name: 'block' }, async (context) => {
  const started = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
  context.event('pids', [process.pid, started.pid]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (;;) Math.random();
});
