import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from './database.ts';
import { startEmbedded } from './embedded.ts';
import { createTestDatabase } from './testing/test-database.ts';

describe('startEmbedded', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'muster-embedded-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));

  const threadOf = (source: string): string => {
    const file = join(dataDir, 'thread.mjs');
    writeFileSync(file, `import { parentPort } from 'node:worker_threads';\n${source}`);
    return file;
  };

  it.each([
    ['throws', `throw new Error('no space left')`, 'no space left'],
    [
      'says that it failed',
      `parentPort.postMessage({ type: 'failed', message: 'bad page' }); setInterval(() => {}, 1000)`,
      'bad page',
    ],
    ['ends', 'process.exit(3)', 'its thread ended with 3'],
  ])('says why, and gives the directory back, where the thread %s', async (_, source, why) => {
    const opened = openDatabase({ dataDir }, { workerFile: threadOf(source) });
    await expect(opened).rejects.toThrow(`the embedded database in ${dataDir} has failed: ${why}`);
    expect(existsSync(join(dataDir, 'lock'))).toBe(false);
  });

  it('reports a database that dies later, once it has been up', async () => {
    const source = `parentPort.postMessage({ type: 'up' });
      parentPort.on('message', (message) => message === 'stop' ? process.exit(0) : undefined);
      setTimeout(() => parentPort.postMessage({ type: 'failed', message: 'out of memory' }), 1)`;
    const failures: Error[] = [];
    const server = await startEmbedded(dataDir, {
      workerFile: threadOf(source),
      onFailure: (error) => failures.push(error),
    });
    await expect
      .poll(() => failures.map((error) => error.message))
      .toEqual([`the embedded database in ${dataDir} has failed: out of memory`]);
    await server.stop();
    expect(failures).toHaveLength(1);
  });
});

describe('the socket of the embedded database', () => {
  it('takes messages in any cut, answers an SSL request, and outlives nonsense', async () => {
    const { target, remove } = await createTestDatabase('embedded');
    const { dataDir } = target as { dataDir: string };
    const server = await startEmbedded(dataDir, { onFailure: () => undefined });
    const path = join(server.host, '.s.PGSQL.5432');

    const nonsense = connect(path);
    nonsense.on('error', () => undefined);
    await new Promise((done) =>
      nonsense.end(Buffer.from([0, 0, 0, 8, 4, 210, 22, 46, 0, 0, 0, 8, 4, 210, 22, 47]), () => done(undefined)),
    );

    // One byte at a time: every cut there is.
    const stream = new Socket();
    const write = stream.write.bind(stream);
    stream.write = (data: Buffer, ...rest: unknown[]) => {
      for (const byte of data.subarray(0, -1)) write(Buffer.from([byte]));
      return (write as (...all: unknown[]) => boolean)(data.subarray(-1), ...rest);
    };
    const client = new Client({
      host: server.host,
      user: 'postgres',
      database: 'postgres',
      password: '',
      stream: () => stream,
    });
    await client.connect();
    const { rows } = await client.query('SELECT $1::text AS text', ['Ωμέγα']);
    expect(rows).toEqual([{ text: 'Ωμέγα' }]);
    await client.end();
    await server.stop();
    expect(existsSync(path)).toBe(false);
    await remove();
  });
});
