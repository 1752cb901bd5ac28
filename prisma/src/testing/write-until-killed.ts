import { openDatabase } from '../database.ts';

/**
 * A process of its own for tests that kill it: opens the data directory given, writes the id of every execution that it finds, then one execution after
 * the other, each with its id once the database has acknowledged it.
 */
const database = await openDatabase({ dataDir: process.argv[2] ?? '' });
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const found = await database.query<{ id: string }>('SELECT id FROM execution ORDER BY id');
for (const { id } of found.rows) say(`found ${id}`);
say('ready');
const write = async (): Promise<void> => {
  for (;;) {
    const id = database.uuidv7();
    await database.query(
      `INSERT INTO execution (id, created_at, queued_at, updated_at, version_id, submitted_by) VALUES ($1, now(), now(), now(), 1, 'test')`,
      [id],
      { priority: 'hot' },
    );
    await database.query(
      `UPDATE execution SET state = 'SCHEDULED', queued = false, live = true, worker_id = 1, generation = 1 WHERE id = $1`,
      [id],
      { priority: 'hot' },
    );
    say(`wrote ${id}`);
  }
};
await Promise.all([write(), write(), write()]);
