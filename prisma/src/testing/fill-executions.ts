import type { Database } from '../database.ts';
import { type TestDatabase, testDatabase } from './test-database.ts';

export interface Filled {
  versionIds: number[];
  deploymentId: number;
}

/**
 * Fills the execution table by SQL alone, for plan tests and lists: `count` executions, one a second back from now, in a mix of states. 3 of 1,000 are queued, 2 live, 1
 * paused, the others ended (1 in 20 FAILED, 1 in 50 CANCELLED); 10 workflows with one version each, half of them through one deployment, 1 in
 * 10 with a session key of 1,000 different ones, 1 in 100 with a parent. Statistics are up to date afterwards.
 */
export async function fillExecutions(database: Pick<Database, 'direct'>, count: number): Promise<Filled> {
  const client = await database.direct();
  try {
    // Of this connection only, which ends below.
    await client.query('SET synchronous_commit = off');
    const versions = await client.query<{ id: number }>(`
      WITH w AS (
        INSERT INTO workflow (namespace, name, created_by)
        SELECT 'fill', 'flow-' || n || '-' || gen_random_uuid(), 'fill' FROM generate_series(1, 10) n RETURNING id
      )
      INSERT INTO workflow_version (workflow_id, number, max_attempts, fingerprint, created_by)
      SELECT id, 1, 3, '\\x00', 'fill' FROM w RETURNING id`);
    const deployment = await client.query<{ id: number }>(`
      INSERT INTO deployment (slug, variants, updated_by) VALUES ('fill-' || gen_random_uuid(), '[]', 'fill') RETURNING id`);
    const versionIds = versions.rows.map((row) => row.id);
    const deploymentId = deployment.rows[0]?.id ?? 0;
    await client.query(FILL, [count, versionIds, deploymentId]);
    // How many pages VACUUM marks as visible to all depends on what else runs, and plans depend on that: none, which is the harder case.
    await client.query('ALTER TABLE execution SET (autovacuum_enabled = false)');
    await client.query('ANALYZE execution');
    return { versionIds, deploymentId };
  } finally {
    await client.end();
  }
}

/** Fills the step table with `count` steps, ten of each of the newest executions; one in ten is an open timer. Statistics are up to date afterwards. */
export async function fillSteps(database: Pick<Database, 'direct'>, count: number): Promise<void> {
  const client = await database.direct();
  try {
    await client.query(
      `INSERT INTO step (execution_id, position, generation, kind, name, done, result, wake_at)
       SELECT x.id, p, 1, CASE WHEN p = 9 THEN 'TIMER' ELSE 'TASK' END, 'step', p < 9, CASE WHEN p < 9 THEN '1'::json END, CASE WHEN p = 9 THEN now() END
       FROM (SELECT id FROM execution ORDER BY id DESC LIMIT $1) x, generate_series(0, 9) p`,
      [Math.ceil(count / 10)],
    );
    await client.query('VACUUM (ANALYZE) step');
  } finally {
    await client.end();
  }
}

/** A PostgreSQL with 1,000,000 executions, for the plans of lists. Takes half a minute. */
export async function millionExecutions(): Promise<{ database: TestDatabase; filled: Filled }> {
  // Nothing here is a request: no limit on a statement's time.
  const database = await testDatabase('postgres', { requestTimeoutMs: null });
  return { database, filled: await fillExecutions(database, 1_000_000) };
}

const FILL = `
  INSERT INTO execution (id, created_at, queued_at, updated_at, version_id, deployment_id, variant, session_key, parent_id, submitted_by,
    state, queued, live, finished_state, waiting, worker_id, worker_name, instance, scheduled_at, started_at, finished_at, scheduled_seq, started_seq,
    finished_seq, event_seq, generation, attempt, input)
  SELECT
    (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
    at, at, at, ($2::int[])[1 + n % 10], CASE WHEN n % 2 = 0 THEN $3::int END, CASE WHEN n % 2 = 0 THEN 'stable' END,
    CASE WHEN n % 10 = 0 THEN 'session-' || (n / 10) % 1000 END,
    CASE WHEN n % 100 = 0 THEN '01900000-0000-7000-8000-000000000000'::uuid END,
    'fill', state, state = 'PENDING', state = 'RUNNING', CASE WHEN ended THEN state END, CASE WHEN state = 'PAUSED' THEN 'RESUME' END,
    CASE WHEN state <> 'PENDING' THEN n % 50 END, CASE WHEN state <> 'PENDING' THEN 'w-' || n % 50 END, CASE WHEN state <> 'PENDING' THEN 'i' END,
    CASE WHEN state <> 'PENDING' THEN at END, CASE WHEN state <> 'PENDING' THEN at END, CASE WHEN ended THEN at END,
    CASE WHEN state <> 'PENDING' THEN 2 END, CASE WHEN state <> 'PENDING' THEN 3 END, CASE WHEN ended THEN 4 END,
    CASE WHEN ended THEN 4 WHEN state = 'PENDING' THEN 1 ELSE 3 END, CASE WHEN state = 'PENDING' THEN 0 ELSE 1 END,
    CASE WHEN state = 'PENDING' THEN 0 ELSE 1 END, '{"n":1}'
  FROM (
    SELECT n, clock_timestamp() - n * interval '1 second' AS at,
      CASE WHEN n % 1000 < 3 THEN 'PENDING' WHEN n % 1000 < 5 THEN 'RUNNING' WHEN n % 1000 = 5 THEN 'PAUSED' WHEN n % 20 = 7 THEN 'FAILED'
        WHEN n % 50 = 8 THEN 'CANCELLED' ELSE 'COMPLETED' END AS state, n % 1000 > 5 AS ended
    FROM generate_series($1::int, 1, -1) AS n
  ) AS made`;
