import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './database.ts';
import { createTestDatabase } from './testing/test-database.ts';

const CHILD = fileURLToPath(new URL('./testing/write-until-killed.ts', import.meta.url));
const ROUNDS = 20;

/** Lets a process write until it has had `count` rows acknowledged, and kills it at once, with statements under way. */
async function writeAndKill(dataDir: string, count: number): Promise<{ found: Set<string>; wrote: string[] }> {
  const child = spawn(process.execPath, ['--import', 'tsx', CHILD, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const found = new Set<string>();
  const wrote: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, id] = line.split(' ');
    if (word === 'found' && id !== undefined) found.add(id);
    if (word === 'wrote' && id !== undefined) wrote.push(id);
    if (wrote.length === count) child.kill('SIGKILL');
  }
  const [, signal] = await exit;
  expect(signal).toBe('SIGKILL');
  return { found, wrote };
}

describe('the embedded database', () => {
  it(`finds every acknowledged row after ${ROUNDS} kills in the middle of writes`, async () => {
    const { target, remove } = await createTestDatabase('embedded');
    const { dataDir } = target as { dataDir: string };
    const acknowledged = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const { found, wrote } = await writeAndKill(dataDir, 20 + ((round * 37) % 90));
      expect([...acknowledged].filter((id) => !found.has(id))).toEqual([]);
      for (const id of wrote) acknowledged.add(id);
    }
    const database = await openDatabase({ dataDir });
    const { rows } = await database.query<{ id: string; state: string }>('SELECT id, state FROM execution');
    const states = new Map(rows.map((row) => [row.id, row.state]));
    expect([...acknowledged].filter((id) => states.get(id) !== 'SCHEDULED')).toEqual([]);
    expect(acknowledged.size).toBeGreaterThan(ROUNDS * 20);
    await database.close();
    await remove();
  }, 900_000);
});
