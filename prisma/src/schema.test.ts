import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from './testing/test-database.ts';

const DAY_MS = 86_400_000;

describe.each(['embedded', 'postgres'] as const)('the schema on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase(kind);
  });
  afterAll(() => database.drop());

  const submit = async (columns: Record<string, unknown> = {}): Promise<string> => {
    const id = database.uuidv7();
    const row = {
      id,
      created_at: new Date(),
      queued_at: new Date(),
      updated_at: new Date(),
      version_id: 1,
      submitted_by: 'ops',
      ...columns,
    };
    const names = Object.keys(row);
    await database.query(
      `INSERT INTO execution (${names.join(', ')}) VALUES (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
      Object.values(row),
    );
    return id;
  };
  const event = (id: string, executionId: string): Promise<unknown> =>
    database.query(
      `INSERT INTO event (id, execution_id, at, sequence, generation, type) VALUES ($1, $2, now(), 2, 0, 'NOTE')`,
      [id, executionId],
    );
  const partitionOf = async (table: string, id: string): Promise<string | undefined> => {
    const { rows } = await database.query<{ name: string }>(
      `SELECT tableoid::regclass::text AS name FROM ${table} WHERE id = $1`,
      [id],
    );
    return rows[0]?.name;
  };

  it('admits no execution whose columns contradict its state', async () => {
    const wrong: Record<string, unknown>[] = [
      { state: 'NONSENSE' },
      { state: 'RUNNING', queued: false, live: true },
      { state: 'PENDING', queued: false },
      { state: 'PENDING', worker_id: 1 },
      { state: 'SCHEDULED', queued: false, live: true, worker_id: 1, parked: true },
      { state: 'PAUSED', queued: false },
      { state: 'COMPLETED', queued: false },
      { state: 'COMPLETED', queued: false, finished_state: 'FAILED' },
      { state: 'FAILED', queued: false, live: true, finished_state: 'FAILED' },
    ];
    for (const columns of wrong) await expect(submit(columns)).rejects.toThrow('execution_state');
    await submit({ state: 'RUNNING', queued: false, live: true, worker_id: 1 });
    await submit({ state: 'PAUSED', queued: false, waiting: 'TIMER', wake_at: new Date() });
    await submit({ state: 'CANCELLED', queued: false, finished_state: 'CANCELLED' });
    await submit({ parked: true, priority: 1000 });
    await expect(submit({ priority: 1001 })).rejects.toThrow('priority');
  });

  it('keeps what users wrote as they wrote it', async () => {
    const text = '{"a\\u0000b": "\\ud800", "n": 1.10, "n": 2}';
    const id = await submit({ input: text });
    const { rows } = await database.query('SELECT input::text AS input FROM execution WHERE id = $1', [id]);
    expect(rows).toEqual([{ input: text }]);
  });

  it('orders names by code point', async () => {
    const names = ['Z', 'a', 'é', '\u{1d4b3}', '\ufb00'];
    for (const name of names) {
      await database.query(`INSERT INTO workflow (namespace, name, created_by) VALUES ('order', $1, 'x')`, [name]);
    }
    const { rows } = await database.query<{ name: string }>(
      `SELECT name FROM workflow WHERE namespace = 'order' ORDER BY name`,
    );
    expect(rows.map((row) => row.name)).toEqual(['Z', 'a', 'é', '\ufb00', '\u{1d4b3}']);
  });

  it('tells the history of an execution in order', async () => {
    const at = (second: number): Date => new Date(Date.UTC(2030, 0, 1, 0, 0, second));
    const id = await submit({ created_at: at(0) });
    await database.query(
      `INSERT INTO attempt (execution_id, generation, number, worker_id, worker_name, instance, scheduled_at, scheduled_seq, claimed_at, claimed_seq,
         ended_at, ended_seq, outcome) VALUES ($1, 1, 1, 7, 'w-7', 'i', $2, 2, $3, 3, $4, 4, 'WORKER_LOST')`,
      [id, at(1), at(2), at(3)],
    );
    await database.query(
      `INSERT INTO event (id, execution_id, at, sequence, generation, type, worker, data) VALUES ($1, $2, $3, 5, 1, 'LATE_WRITE', 'w-7', '{"a":1}')`,
      [database.uuidv7(), id, at(4)],
    );
    await database.query(
      `UPDATE execution SET state = 'FAILED', finished_state = 'FAILED', queued = false, worker_id = 8, worker_name = 'w-8', generation = 2, event_seq = 8,
         scheduled_at = $2, scheduled_seq = 6, started_at = $3, started_seq = 7, finished_at = $4, finished_seq = 8, error = '{"type":"X"}' WHERE id = $1`,
      [id, at(5), at(6), at(7)],
    );
    const { rows } = await database.query(
      'SELECT sequence, type, worker, generation, data, at FROM execution_timeline WHERE execution_id = $1 ORDER BY sequence',
      [id],
    );
    expect(rows.map((row) => [row['sequence'], row['type'], row['worker'], row['generation'], row['data']])).toEqual([
      [1, 'CREATED', null, 0, null],
      [2, 'SCHEDULED', 'w-7', 1, null],
      [3, 'CLAIMED', 'w-7', 1, null],
      [4, 'ATTEMPT_WORKER_LOST', 'w-7', 1, null],
      [5, 'LATE_WRITE', 'w-7', 1, { a: 1 }],
      [6, 'SCHEDULED', 'w-8', 2, null],
      [7, 'STARTED', 'w-8', 2, null],
      [8, 'FAILED', 'w-8', 2, { type: 'X' }],
    ]);
    expect(rows.map((row) => row['at'])).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map(at));
  });

  it('takes every event: in the partition of its day, or in the one for the rest', async () => {
    await database.query('SELECT * FROM maintain_partitions(clock_timestamp(), 2, NULL)');
    const execution = database.uuidv7();
    const today = database.uuidv7();
    await event(today, execution);
    expect(await partitionOf('event', today)).toBe(
      `event_${new Date(database.now()).toISOString().slice(0, 10).replaceAll('-', '')}`,
    );
    for (const at of [database.now() + 400 * DAY_MS, 0]) {
      const id = database.uuidv7(at);
      await event(id, execution);
      expect(await partitionOf('event', id)).toBe('event_default');
    }
  });

  it('makes the partitions of the days to come and drops those of long ago', async () => {
    const maintain = async (day: string, keep: number | null): Promise<string[]> => {
      const { rows } = await database.query<{ done: string; partition: string }>(
        'SELECT done, partition FROM maintain_partitions($1, 1, $2)',
        [`${day}T12:00:00Z`, keep],
      );
      return rows.filter((row) => row.partition.startsWith('decision_2')).map((row) => `${row.done} ${row.partition}`);
    };
    expect(await maintain('2041-03-01', null)).toEqual(['created decision_20410301', 'created decision_20410302']);
    expect(await maintain('2041-03-01', null)).toEqual([]);
    const dropped = await maintain('2041-03-04', 2);
    expect(dropped).toContain('created decision_20410304');
    expect(dropped).toContain('dropped decision_20410301');
    expect(dropped).not.toContain('dropped decision_20410302');
  });

  it('leaves a day alone that the default partition has taken up, and goes on with the others', async () => {
    const at = Date.UTC(2050, 5, 2, 10);
    const id = database.uuidv7(at);
    await event(id, database.uuidv7(at));
    const { rows } = await database.query<{ partition: string }>(
      `SELECT partition FROM maintain_partitions('2050-06-01T00:00:00Z', 2, NULL)`,
    );
    const events = rows.map((row) => row.partition).filter((name) => name.startsWith('event_'));
    expect(events).toEqual(['event_20500601', 'event_20500603']);
    expect(await partitionOf('event', id)).toBe('event_default');
  });

  it('cuts days where UUIDs of version 7 do', async () => {
    const floor = async (ms: number): Promise<string> => {
      const { rows } = await database.query<{ id: string }>('SELECT uuid_v7_floor($1)::text AS id', [new Date(ms)]);
      return rows[0]?.id ?? '';
    };
    const ms = Date.UTC(2031, 4, 5);
    expect((await floor(ms)) <= database.uuidv7(ms)).toBe(true);
    expect((await floor(ms)) > database.uuidv7(ms - 1)).toBe(true);
  });

  it('adds to the audit log, seals an entry once, and changes nothing', async () => {
    const id = database.uuidv7();
    await database.query(
      `INSERT INTO audit (id, at, actor, action, data) VALUES ($1, now(), 'ops', 'deployment.update', '{"a": 1}')`,
      [id],
    );
    const seal = `UPDATE audit SET position = $2, hash = '\\x01' WHERE id = $1`;
    const forbidden = [
      `UPDATE audit SET actor = 'someone'`,
      `UPDATE audit SET actor = 'someone', position = 1, hash = '\\x01'`,
      `UPDATE audit SET data = '{"a": 2}', position = 1, hash = '\\x01'`,
      'UPDATE audit SET position = 1',
      'DELETE FROM audit',
      'TRUNCATE audit',
    ];
    for (const sql of forbidden) await expect(database.query(sql)).rejects.toThrow('the audit log is append-only');
    await database.query(seal, [id, 1]);
    await expect(database.query(seal, [id, 2])).rejects.toThrow('the audit log is append-only');
  });

  it('starts with nobody leading', async () => {
    const { rows } = await database.query(
      'SELECT epoch, holder, expires_at < clock_timestamp() AS free FROM leadership',
    );
    expect(rows).toEqual([{ epoch: 0, holder: '', free: true }]);
    await expect(database.query('INSERT INTO leadership DEFAULT VALUES')).rejects.toThrow('leadership_pkey');
    await expect(database.query('INSERT INTO leadership (one) VALUES (false)')).rejects.toThrow('leadership_one_check');
  });

  it('forgets pulses, not workers, with the database’s memory', async () => {
    const { rows } = await database.query(
      `SELECT relname AS name FROM pg_class WHERE relpersistence = 'u' AND relkind = 'r' ORDER BY 1`,
    );
    expect(rows).toEqual([{ name: 'worker_pulse' }]);
  });
});
