import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { startPostgresCluster } from './postgres-cluster.ts';

const directoryOf = (url: string): string => new URL(url).searchParams.get('host') ?? '';

describe('startPostgresCluster', () => {
  it('is a server of our own, with fsync, that leaves nothing behind', async () => {
    const cluster = await startPostgresCluster();
    const client = new Client({ connectionString: cluster.url });
    await client.connect();
    const { rows } = await client.query(
      `SELECT current_setting('fsync') AS fsync, current_setting('listen_addresses') AS listens`,
    );
    expect(rows).toEqual([{ fsync: 'on', listens: '' }]);
    await client.end();
    await cluster.stop();
    expect(existsSync(directoryOf(cluster.url))).toBe(false);
  });

  it('goes with a process that is killed', async () => {
    const module = fileURLToPath(new URL('./postgres-cluster.ts', import.meta.url));
    const script = `import { startPostgresCluster } from ${JSON.stringify(module)};
      console.log((await startPostgresCluster()).url);
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(existsSync(directoryOf(url))).toBe(true);
    child.kill('SIGKILL');
    await expect.poll(() => existsSync(directoryOf(url)), { timeout: 30_000 }).toBe(false);
    const client = new Client({ connectionString: url });
    await expect(client.connect()).rejects.toThrow('ENOENT');
  });
});
