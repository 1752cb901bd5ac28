import { afterEach, describe, expect, test } from 'vitest';
import { answeringServer } from '../testing/answering-server.ts';
import { runCommand } from '../testing/run-command.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(answers: Parameters<typeof answeringServer>[0]) {
  const server = await answeringServer(answers);
  cleanups.push(() => server.close());
  return server;
}

const entry = { key: 'rank', value: 3, updatedAt: new Date().toISOString(), updatedBy: 'admin' };

describe('availability', () => {
  test.each([
    ['cordon', 'CORDONED', 'w-1 is given nothing new. It runs 2 now.'],
    ['uncordon', 'ACTIVE', 'w-1 is given work again.'],
    ['drain', 'DRAINING', 'w-1 is given nothing new and leaves when it is idle. It runs 2 now.'],
  ])('%s', async (command, availability, said) => {
    const worker = { name: 'w-1', availability, status: 'HEALTHY', load: 2 };
    const { url, received } = await serve({ WorkerAvailabilitySet: { data: { setWorkerAvailability: { worker } } } });
    expect(await runCommand(['worker', command, 'w-1'], { url })).toEqual({ code: 0, out: said, err: '' });
    expect(received[0]?.variables).toEqual({ input: { worker: 'w-1', availability } });
    const { out } = await runCommand(['worker', command, 'w-1', '--json'], { url });
    expect(JSON.parse(out)).toEqual(worker);
  });

  test('remove', async () => {
    const { url, received } = await serve({ WorkerRemove: { data: { removeWorker: { name: 'w-1' } } } });
    expect(await runCommand(['worker', 'remove', 'w-1'], { url })).toEqual({
      code: 0,
      out: 'w-1 is removed.',
      err: '',
    });
    expect(received[0]?.variables).toEqual({ name: 'w-1' });
  });
});

describe('metadata', () => {
  test('set: decimal numbers are numbers, everything else is text', async () => {
    const { url, received } = await serve({
      WorkerMetadataSet: { data: { setWorkerMetadata: { worker: { name: 'w-1', metadata: [entry] } } } },
    });
    const pairs = [
      'rank=3',
      'cost=-2.5e-1',
      'pool=blue',
      'ok=true',
      'hex=0x10',
      'nan=nan',
      'empty=',
      'huge=1e999',
      'eq=a=b',
    ];
    const { code, out } = await runCommand(['worker', 'metadata', 'set', 'w-1', ...pairs], { url });
    expect(code).toBe(0);
    expect(out).toMatch(/^key +value +type +changed +by\nrank +3 +number +\d+ s ago +admin$/);
    expect(received[0]?.variables).toEqual({
      input: {
        worker: 'w-1',
        replace: false,
        metadata: {
          rank: 3,
          cost: -0.25,
          pool: 'blue',
          ok: 'true',
          hex: '0x10',
          nan: 'nan',
          empty: '',
          huge: '1e999',
          eq: 'a=b',
        },
      },
    });
    await runCommand(['worker', 'metadata', 'set', 'w-1', 'build=007', '--string', '--replace'], { url });
    expect(received[1]?.variables).toEqual({ input: { worker: 'w-1', replace: true, metadata: { build: '007' } } });
  });

  test('show, unset and clear', async () => {
    const { url, received } = await serve({
      WorkerMetadata: { data: { worker: { name: 'w-1', metadata: [entry] } } },
      WorkerMetadataUnset: { data: { unsetWorkerMetadata: { worker: { name: 'w-1', metadata: [] } } } },
    });
    const shown = await runCommand(['worker', 'metadata', 'show', 'w-1', '--json'], { url });
    expect(JSON.parse(shown.out)).toEqual([entry]);
    expect((await runCommand(['worker', 'metadata', 'unset', 'w-1', 'a', 'b'], { url })).out).toBe('No metadata.');
    expect((await runCommand(['worker', 'metadata', 'clear', 'w-1', '--json'], { url })).out).toBe('[]');
    expect(received.map(({ variables }) => variables)).toEqual([
      { name: 'w-1' },
      { input: { worker: 'w-1', keys: ['a', 'b'] } },
      { input: { worker: 'w-1', all: true } },
    ]);
  });

  test('of a worker that is not there', async () => {
    const { url } = await serve({ WorkerMetadata: { data: { worker: null } } });
    const ran = await runCommand(['worker', 'metadata', 'show', 'w-9'], { url });
    expect(ran).toEqual({ code: 3, out: '', err: 'There is no worker w-9.' });
  });

  test('set without "=", or a key twice, is a usage error', async () => {
    expect(await runCommand(['worker', 'metadata', 'set', 'w-1', 'pool'])).toMatchObject({ code: 2, out: '' });
    expect(await runCommand(['worker', 'metadata', 'set', 'w-1', 'a=1', 'a=2'])).toMatchObject({ code: 2, out: '' });
  });
});
