import { Client } from 'pg';
import { startEmbedded } from '../embedded.ts';
import { uuidV7Source } from '../uuid-v7.ts';

/**
 * A process of its own for tests that kill it: opens the data directory given, writes the id of every execution that it finds, then one execution after
 * the other on three connections, each with its id once the database has acknowledged it.
 */
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const server = await startEmbedded(process.argv[2] ?? '', {
  onFailure: (error) => {
    throw error;
  },
});
const uuid = uuidV7Source(Date.now);
const connect = async (): Promise<Client> => {
  const client = new Client({ host: server.host, user: 'postgres', database: 'postgres', password: '' });
  await client.connect();
  return client;
};
const write = async (client: Client): Promise<void> => {
  for (;;) {
    const id = uuid();
    await client.query(
      `INSERT INTO execution (id, created_at, queued_at, updated_at, version_id, submitted_by) VALUES ($1, now(), now(), now(), 1, 'test')`,
      [id],
    );
    await client.query(
      `UPDATE execution SET state = 'SCHEDULED', queued = false, live = true, worker_id = 1, generation = 1 WHERE id = $1`,
      [id],
    );
    say(`wrote ${id}`);
  }
};
const reader = await connect();
const found = await reader.query<{ id: string }>('SELECT id FROM execution ORDER BY id');
for (const { id } of found.rows) say(`found ${id}`);
await Promise.all([reader, await connect(), await connect()].map(write));
