import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, RegisterWorkflowDocument } from '@muster/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runCommand } from '../testing/run-command.ts';

/** The command on a data directory, with and without the server that made it. */
let dataDir: string;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'muster-audit-'));
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function serve() {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url));
  const args = [
    '--import',
    import.meta.resolve('tsx'),
    main,
    'serve',
    '--no-demo',
    '--no-worker',
    '--port',
    '0',
    '--json',
  ];
  const child = spawn(process.execPath, [...args, '--data-dir', dataDir], {
    env: { ...process.env, LOG_LEVEL: 'error' },
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += String(chunk)));
  await vi.waitFor(() => expect(printed).toContain('"graphql"'), { timeout: 200_000, interval: 100 });
  const { url } = JSON.parse(printed.split('\n').find((line) => line.includes('"graphql"')) ?? '{}') as { url: string };
  const end = async (): Promise<void> => {
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  };
  return { url, token: readFileSync(join(dataDir, 'admin-token'), 'utf8').trim(), end };
}

test('the chain is verified over the API, and on the data directory when the server is down', async () => {
  const { end, ...online } = await serve();
  const client = createClient(online);
  for (const name of ['a', 'b', 'c']) await client.request(RegisterWorkflowDocument, { input: { name } });
  const text = ['audit', 'verify'];
  await vi.waitFor(async () => expect((await runCommand(text, online)).out).toContain('3 sealed, 0 not sealed'), {
    timeout: 60_000,
    interval: 200,
  });
  const listed = await runCommand(['audit', 'list', '--action', 'workflow.', '--json'], online);
  expect(JSON.parse(listed.out).map(({ target }: { target: string }) => target)).toEqual(
    ['c', 'b', 'a'].map((name) => `workflow:default/${name}`),
  );
  const exported = await runCommand(['audit', 'export', '--action', 'workflow.register'], online);
  expect(exported.out.split('\n').map((line) => JSON.parse(line).position)).toEqual([1, 2, 3]);
  const offline = ['audit', 'verify', '--offline', '--data-dir', dataDir];
  expect(await runCommand(offline)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(dataDir) });
  await end();

  const { code, out } = await runCommand(offline);
  expect(code).toBe(0);
  const [last = ''] = /3:[0-9a-f]{64}/.exec(out) ?? [];
  expect((await runCommand([...offline, '--known', last])).code).toBe(0);
  expect((await runCommand([...offline, '--known', `4:${last.slice(2)}`])).code).toBe(1);
}, 400_000);
