import { TERMINAL_STATES, type TerminalState } from '@muster/core';
import { rawId } from '../../dispatch/ids.ts';
import type { Executor, Statement } from '../../dispatch/statements/executor.ts';
import type { Page } from '../../graphql/connection.ts';
import { boundedCount, type Count, cutPage } from '../../graphql/page-rows.ts';
import { chooseDriver, type ExecutionQuery, MAX_WALK, residualOf } from './execution-filter.ts';
import type { AttemptRow, EventRow, ExecutionPayload, ExecutionRow } from './execution-rows.ts';

const COLUMNS = `x.id::text AS id, x.parent_id::text AS "parentId", x.retry_of::text AS "retryOf", x.waiting_child::text AS "waitingChild",
  x.version_id AS "versionId", x.deployment_id AS "deploymentId", x.variant, x.target_roles AS "targetRoles", x.session_key AS "sessionKey",
  x.state, x.parked, x.parked_reason AS "parkedReason", x.parked_since AS "parkedSince", x.park_deadline AS "parkDeadline", x.error,
  x.worker_id AS "workerId", x.worker_name AS "workerName", x.required_worker AS "requiredWorker", x.preferred_worker AS "preferredWorker",
  x.priority, x.attempt, x.resumed, x.generation, x.revision, x.submitted_by AS "submittedBy", x.created_at AS "createdAt", x.updated_at AS "updatedAt",
  x.scheduled_at AS "scheduledAt", x.claimed_at AS "claimedAt", x.started_at AS "startedAt", x.finished_at AS "finishedAt",
  x.waiting, x.waiting_name AS "waitingName", x.wake_at AS "wakeAt"`;

/** First a short walk, which is enough where the filter hits often, then longer ones. */
const WALKS = [500, 4_000, MAX_WALK - 4_500];
/** Each walked row by its key, where the planner might rather read the whole table once: `OFFSET 0` keeps the lookup apart from the join. */
const WALKED_ROWS = 'walked CROSS JOIN LATERAL (SELECT * FROM execution e WHERE e.id = walked.id OFFSET 0) x';
/** How much older than its row an id may be. */
const SUBMIT_LAG_MS = 60_000;
/** Inputs and outputs that one answer may hold together. */
const MAX_PAYLOAD_BYTES = 32 * 1_048_576;

/** `more`: there are, or may be, further ones. `exhausted: false`: 20,000 rows were walked and `cursor` says how far. */
export interface ExecutionPage {
  items: ExecutionRow[];
  more: boolean;
  cursor: string | null;
}

/** Reads executions: newest first, by keyset, at most 20,000 rows a request. Ids are raw. */
export class ExecutionReader {
  readonly #db: Executor;

  constructor(db: Executor) {
    this.#db = db;
  }

  async byIds(ids: readonly string[]): Promise<Map<string, ExecutionRow>> {
    const { rows } = await this.#db.run<ExecutionRow>(
      {
        name: 'executions-by-ids',
        priority: 'read',
        text: `SELECT ${COLUMNS} FROM execution x WHERE x.id = ANY($1::uuid[])`,
      },
      [ids],
    );
    return new Map(rows.map((row) => [rawId(row.id), fromDatabase(row)]));
  }

  async page(query: ExecutionQuery, page: Page): Promise<ExecutionPage> {
    const driver = chooseDriver(query);
    const residual = residualOf(query, driver, 6);
    const { newest, oldest } = boundsOf(query, page);
    const direction = page.backward ? 'ASC' : 'DESC';
    const wanted = page.limit + 1;
    const found: ExecutionRow[] = [];
    let from = page.backward ? oldest : newest;
    for (const walk of residual ? WALKS : [wanted]) {
      const text = `WITH walked AS MATERIALIZED (${driver.text.replaceAll('DIR', direction)})
        SELECT ${COLUMNS} FROM ${WALKED_ROWS} WHERE ${residual?.text ?? 'true'} ORDER BY x.id ${direction} LIMIT $5`;
      const bounds = page.backward ? [newest, from] : [from, oldest];
      const { rows } = await this.#db.run<ExecutionRow>(list(text), [
        ...bounds,
        walk,
        driver.value,
        wanted - found.length,
        ...(residual?.values ?? []),
      ]);
      found.push(...rows.map(fromDatabase));
      if (found.length >= wanted || !residual) break;
      const end = await this.#walkEnd(driver, direction, bounds, walk);
      if (end === null) return { ...cutPage(found, page), cursor: null };
      from = end;
    }
    const cut = cutPage(found, page);
    const gaveUp = residual !== null && found.length < wanted;
    return { items: cut.items, more: cut.more || gaveUp, cursor: gaveUp ? rawId(from as string) : null };
  }

  /** At most 10,000 are counted; a filter that no index answers walks at most 20,000 rows. */
  async count(query: ExecutionQuery): Promise<Count> {
    const driver = chooseDriver(query);
    const residual = residualOf(query, driver, 5);
    const { newest, oldest } = boundsOf(query, null);
    const walked = driver.text.replaceAll('DIR', 'DESC');
    const text = residual
      ? `WITH walked AS MATERIALIZED (${walked}) SELECT count(*)::int AS n, (SELECT count(*)::int FROM walked) AS walked
          FROM ${WALKED_ROWS} WHERE ${residual.text}`
      : `SELECT count(*)::int AS n, 0 AS walked FROM (${walked}) w`;
    const limit = residual ? MAX_WALK : 10_001;
    const { rows } = await this.#db.run<{ n: number; walked: number }>(list(text), [
      newest,
      oldest,
      limit,
      driver.value,
      ...(residual?.values ?? []),
    ]);
    const { n, walked: seen } = rows[0] ?? { n: 0, walked: 0 };
    const count = boundedCount(n);
    return seen >= MAX_WALK ? { ...count, exact: false } : count;
  }

  /** Executions per state, of each at most 10,001; with a filter, of the newest 20,000 that it walks. */
  async counts(
    query: ExecutionQuery,
    filtered: boolean,
  ): Promise<{ state: ExecutionRow['state']; count: number; parked: number }[]> {
    if (!filtered) {
      const { rows } = await this.#db.run<{ state: ExecutionRow['state']; count: number; parked: number }>(
        { name: 'execution-counts', priority: 'read', text: COUNTS },
        [],
      );
      return rows;
    }
    const driver = chooseDriver(query);
    const residual = residualOf(query, driver, 5);
    const { newest, oldest } = boundsOf(query, null);
    const text = `WITH walked AS MATERIALIZED (${driver.text.replaceAll('DIR', 'DESC')})
      SELECT x.state, count(*)::int AS count, (count(*) FILTER (WHERE x.parked))::int AS parked
      FROM ${WALKED_ROWS} WHERE ${residual?.text ?? 'true'} GROUP BY x.state`;
    const { rows } = await this.#db.run<{ state: ExecutionRow['state']; count: number; parked: number }>(list(text), [
      newest,
      oldest,
      MAX_WALK,
      driver.value,
      ...(residual?.values ?? []),
    ]);
    return rows;
  }

  /** Input and output. `null` in the map: the answer has grown too large; newest first. */
  async payloads(ids: readonly string[]): Promise<Map<string, ExecutionPayload | null>> {
    const { rows } = await this.#db.run<{
      id: string;
      input: ExecutionPayload['input'];
      output: ExecutionPayload['output'];
      kept: boolean;
    }>(
      {
        name: 'execution-payloads',
        priority: 'read',
        text: `WITH sized AS (
            SELECT x.id, sum(COALESCE(octet_length(x.input::text), 0) + COALESCE(octet_length(x.output::text), 0)) OVER (ORDER BY x.id DESC) <= $2 AS kept
            FROM execution x WHERE x.id = ANY($1::uuid[]))
          SELECT s.id::text AS id, s.kept, CASE WHEN s.kept THEN x.input END AS input, CASE WHEN s.kept THEN x.output END AS output
          FROM sized s JOIN execution x ON x.id = s.id`,
      },
      [ids, MAX_PAYLOAD_BYTES],
    );
    return new Map(rows.map(({ id, kept, input, output }) => [rawId(id), kept ? { input, output } : null]));
  }

  /** Superseded attempts, newest first; the present one stands in the execution. */
  async attempts(ids: readonly string[]): Promise<Map<string, AttemptRow[]>> {
    const { rows } = await this.#db.run<AttemptRow>(
      {
        name: 'execution-attempts',
        priority: 'read',
        text: `SELECT a.execution_id::text AS "executionId", a.number, a.generation, a.worker_name AS worker, a.outcome, a.error,
            a.scheduled_at AS "scheduledAt", a.claimed_at AS "claimedAt", a.ended_at AS "endedAt"
          FROM unnest($1::uuid[]) AS g (id) CROSS JOIN LATERAL (
            SELECT * FROM attempt WHERE execution_id = g.id ORDER BY generation DESC LIMIT 200) a
          ORDER BY a.execution_id, a.generation DESC`,
      },
      [ids],
    );
    const byExecution = new Map<string, AttemptRow[]>();
    for (const row of rows) {
      const id = rawId(row.executionId);
      const list = byExecution.get(id) ?? [];
      list.push({ ...row, executionId: id });
      byExecution.set(id, list);
    }
    return byExecution;
  }

  /** History after a sequence, oldest first. */
  async events(executionId: string, afterSequence: number, limit: number): Promise<EventRow[]> {
    const { rows } = await this.#db.run<EventRow>(
      {
        name: 'execution-events',
        priority: 'read',
        text: `SELECT $1::text AS "executionId", sequence, type, at, worker, data FROM execution_timeline
          WHERE execution_id = $1::uuid AND sequence > $2 ORDER BY sequence LIMIT $3`,
      },
      [executionId, afterSequence, limit],
    );
    return rows;
  }

  async event(executionId: string, sequence: number): Promise<EventRow | null> {
    const [row] = await this.events(executionId, sequence - 1, 1);
    return row?.sequence === sequence ? row : null;
  }

  async eventCount(executionId: string): Promise<Count> {
    const { rows } = await this.#db.run<{ n: number }>(
      {
        name: 'execution-event-count',
        priority: 'read',
        text: 'SELECT count(*)::int AS n FROM (SELECT 1 FROM execution_timeline WHERE execution_id = $1::uuid LIMIT 10001) x',
      },
      [executionId],
    );
    return boundedCount(rows[0]?.n ?? 0);
  }

  /** Ids of workers by name or role, removed ones too: what they had stays findable. */
  async workerIds(by: { name: string } | { role: string }): Promise<number[]> {
    const { rows } = await this.#db.run<{ id: number }>(
      {
        name: 'execution-worker-ids',
        priority: 'read',
        text: `SELECT id FROM worker WHERE ($1::text IS NULL OR name = $1 COLLATE "C") AND ($2::text IS NULL OR role = $2 COLLATE "C") ORDER BY id DESC LIMIT 20000`,
      },
      ['name' in by ? by.name : null, 'role' in by ? by.role : null],
    );
    return rows.map((row) => row.id);
  }

  /** Where a walk of that length ends, or null where it reached the end of the list. */
  async #walkEnd(
    driver: { name: string; text: string; value: unknown },
    direction: string,
    bounds: readonly unknown[],
    walk: number,
  ): Promise<string | null> {
    const last = direction === 'DESC' ? '(array_agg(id ORDER BY id))[1]' : '(array_agg(id ORDER BY id DESC))[1]';
    const text = `SELECT count(*)::int AS n, ${last}::text AS last FROM (${driver.text.replaceAll('DIR', direction)}) w`;
    const { rows } = await this.#db.run<{ n: number; last: string }>(list(text), [...bounds, walk, driver.value]);
    const row = rows[0];
    return row === undefined || row.n < walk ? null : row.last;
  }
}

// Each part is ordered as its partial index is: without an order, a table of which a third has ended looks as if a sequential scan met its limit sooner.
const STATE_COUNT = (where: string, order: string): string =>
  `SELECT state, count(*)::int AS count, (count(*) FILTER (WHERE parked))::int AS parked FROM (SELECT x.state, x.parked FROM execution x WHERE ${where} ORDER BY ${order} LIMIT 20000) s GROUP BY state`;
// BETWEEN, because an equality would make the order one of `id` alone, which the primary key serves as well, through every row of another state.
const FINISHED_COUNT = (state: TerminalState): string =>
  `SELECT '${state}', count(*)::int, 0 FROM (SELECT 1 FROM execution x WHERE x.finished_state BETWEEN '${state}' AND '${state}' ORDER BY x.finished_state, x.id LIMIT 10001) s HAVING count(*) > 0`;
const COUNTS = [
  STATE_COUNT('x.queued', 'x.priority DESC, x.id'),
  STATE_COUNT('x.live', 'x.id'),
  STATE_COUNT('x.waiting IS NOT NULL', 'x.id'),
  ...TERMINAL_STATES.map(FINISHED_COUNT),
].join(' UNION ALL ');

/**
 * The oldest and newest id of a query, exclusive: its time window and the page's cursors. Ids are made a moment before their row, so the window is an
 * outer one; the filter on created_at is exact.
 */
function boundsOf(query: ExecutionQuery, page: Page | null): { newest: string | null; oldest: string | null } {
  const newest = [page?.after?.[0], query.createdBefore && floorId(query.createdBefore)].filter(
    (id): id is string => typeof id === 'string',
  );
  const oldest = [
    page?.before?.[0],
    query.createdAfter && floorId(new Date(query.createdAfter.getTime() - SUBMIT_LAG_MS)),
  ].filter((id): id is string => typeof id === 'string');
  return { newest: newest.sort()[0] ?? null, oldest: oldest.sort().at(-1) ?? null };
}

/** The smallest id of an instant, raw. */
function floorId(at: Date): string {
  return Math.max(0, at.getTime()).toString(16).padStart(12, '0').slice(-12).padEnd(32, '0');
}

/** Lists are planned for their values each time: a plan for any value would walk the primary key where the value is rare. */
function list(text: string): Statement {
  return { name: '', text, priority: 'read' };
}

function fromDatabase(row: ExecutionRow): ExecutionRow {
  const raw = (id: string | null): string | null => (id === null ? null : rawId(id));
  return {
    ...row,
    id: rawId(row.id),
    parentId: raw(row.parentId),
    retryOf: raw(row.retryOf),
    waitingChild: raw(row.waitingChild),
  };
}
