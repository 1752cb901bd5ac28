import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ProtocolServer } from '../testing/protocol-server.ts';

const program = fileURLToPath(new URL('../testing/left-behind-worker.ts', import.meta.url));
let server: ProtocolServer;
let child: ChildProcess;
let output: string;

beforeEach(async () => {
  server = new ProtocolServer();
  await server.start();
  output = '';
  child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), program, server.url]);
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => {
      output += data.toString();
    });
  await expect.poll(() => server.inboxes.length).toBe(1);
});

afterEach(async () => {
  child.kill('SIGKILL');
  await server.stop();
});

test('a cancelled handler that has left chains of calls behind does not end the worker', async () => {
  server.assign(['ex_1'], 'test/chains');
  await expect.poll(() => server.items('steps').length).toBe(3);
  server.push({ cancels: [{ id: 'ex_1', generation: 1 }] });
  await expect.poll(() => server.items('ends')).toMatchObject([{ id: 'ex_1', state: 'CANCELLED' }]);
  server.assign(['ex_2'], 'test/quick');
  await expect.poll(() => server.items('ends').at(-1)).toMatchObject({ id: 'ex_2', output: 'still here' });
  expect(output).toContain('warn: A handler has left behind a call that failed: AbortError');
  expect(output).toContain('Error: wrapped');
  expect(child.exitCode).toBeNull();
});

test('what else nobody handles ends the process, as Node has it', async () => {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  server.assign(['ex_1'], 'test/careless');
  expect(await gone).toBe(1);
  expect(output).toContain('nobody handles this');
});
