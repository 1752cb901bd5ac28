import { type DecisionFrame, type DecisionRow, explain } from '@muster/core';
import { rawId, timeOfId } from '../../dispatch/ids.ts';
import type { Executor, Statement } from '../../dispatch/statements/executor.ts';
import {
  decodeDecision,
  decodeFrame,
  keptWorkers,
  packedRow,
  type ReadFrame,
  type StoredColumns,
} from './decision-codec.ts';
import type {
  DecisionFilter,
  DecisionPage,
  DecisionPageRequest,
  DecisionReader,
  StoredDecision,
} from './stored-decision.ts';

/** No request walks further than this through the table. */
const MAX_WALK = 20_000;
const MAX_COUNT = 10_000;
/** Unpacked frames that are kept: neighbours in a list share them. */
const MAX_FRAMES = 200;
const FIRST_ID = '00000000000000000000000000000000';
const LAST_ID = 'ffffffffffffffffffffffffffffffff';

interface Row extends StoredColumns {
  id: string;
  executionId: string;
  frameId: string | null;
  n: number;
  attempt: number;
  generation: number;
  versionId: number;
  waitMs: number;
  durationUs: number;
}

const COLUMNS = `d.id, d.execution_id AS "executionId", d.frame_id AS "frameId", d.n, d.attempt, d.generation, d.version_id AS "versionId",
  d.wait_ms AS "waitMs", d.duration_us AS "durationUs", d.outcome, d.winner, d.method, d.degraded, d.reason, d.eligible, d.rejected,
  d.kept, d.loads, d.refs`;

const BY_IDS: Statement = {
  name: 'decisions_by_ids',
  priority: 'read',
  text: `SELECT ${COLUMNS} FROM unnest($1::uuid[]) AS i (id) JOIN decision d ON d.id = i.id`,
};

/** A decision is never older than its execution: the bound lets the planner leave out the partitions before it. */
const LATEST: Statement = {
  name: 'decisions_latest',
  priority: 'read',
  text: `SELECT d.* FROM unnest($1::uuid[]) AS i (id) CROSS JOIN LATERAL (
  SELECT ${COLUMNS} FROM decision d WHERE d.execution_id = i.id AND d.id >= i.id ORDER BY d.id DESC LIMIT 1
) d`,
};

const BY_GENERATIONS: Statement = {
  name: 'decisions_by_generations',
  priority: 'read',
  text: `SELECT ${COLUMNS} FROM unnest($1::uuid[], $2::int[]) AS i (id, generation)
JOIN decision d ON d.execution_id = i.id AND d.id >= i.id AND d.generation = i.generation AND d.outcome = 'ASSIGNED'`,
};

const FRAMES: Statement = {
  name: 'decision_frames',
  priority: 'read',
  text: 'SELECT f.id, f.workers, f.data FROM unnest($1::uuid[]) AS i (id) JOIN decision_frame f ON f.id = i.id',
};

/** Reads stored decisions. What was withheld when they were written is not in them. */
export class DecisionStore implements DecisionReader {
  readonly #db: Executor;
  readonly #frames = new Map<string, ReadFrame>();

  constructor(db: Executor) {
    this.#db = db;
  }

  async byIds(ids: readonly string[]): Promise<Map<string, StoredDecision>> {
    const { rows } = await this.#db.run<Row>(BY_IDS, [ids]);
    return new Map((await this.#decode(rows)).map((one) => [one.id, one]));
  }

  async latestByExecutions(executionIds: readonly string[]): Promise<Map<string, StoredDecision>> {
    const { rows } = await this.#db.run<Row>(LATEST, [executionIds]);
    return new Map((await this.#decode(rows)).map((one) => [one.executionId, one]));
  }

  async byGenerations(
    keys: readonly { executionId: string; generation: number }[],
  ): Promise<Map<string, StoredDecision>> {
    const { rows } = await this.#db.run<Row>(BY_GENERATIONS, [
      keys.map((key) => key.executionId),
      keys.map((key) => key.generation),
    ]);
    return new Map((await this.#decode(rows)).map((one) => [`${one.executionId}:${one.generation}`, one]));
  }

  byExecution(executionId: string, page: DecisionPageRequest): Promise<DecisionPage> {
    return this.list({ executionId }, page);
  }

  /** The frame and row of one decision, to be scored again; null where it does not exist. */
  async packed(id: string): Promise<{ frame: DecisionFrame; row: DecisionRow; versionId: number } | null> {
    const { rows } = await this.#db.run<Row>(BY_IDS, [[id]]);
    const row = rows[0];
    if (row === undefined) return null;
    const frame = (await this.#readFrames(rows)).get(row.frameId ?? '');
    return frame === undefined ? null : { frame: frame.frame, row: packedRow(row, frame), versionId: row.versionId };
  }

  async list(filter: DecisionFilter, page: DecisionPageRequest): Promise<DecisionPage> {
    const backwards = page.backward ?? (page.before !== undefined && page.after === undefined);
    const { lower, upper } = bounds(filter, page);
    const walk = isPlain(filter) ? page.limit + 1 : MAX_WALK;
    const order = backwards ? 'ASC' : 'DESC';
    const { conditions, values } = filterConditions(filter, 5);
    const { rows } = await this.#db.run<Row>(
      {
        name: '',
        priority: 'read',
        text: `SELECT ${COLUMNS} FROM (
  SELECT * FROM decision d WHERE d.id > $1 AND d.id < $2 ${filter.executionId === undefined ? '' : 'AND d.execution_id = $5'}
  ORDER BY d.id ${order} LIMIT $3
) d WHERE ${conditions} ORDER BY d.id ${order} LIMIT $4`,
      },
      [lower, upper, walk, page.limit + 1, ...values],
    );
    const found = await this.#decode(rows.slice(0, page.limit), candidateOf(filter));
    const hits = rows.length > page.limit;
    const last = rows.slice(0, page.limit).at(-1);
    const end = hits || isPlain(filter) ? null : await this.#walkedTo(order, lower, upper, walk, filter.executionId);
    const cursor = hits ? rawId(last?.id ?? '') : end;
    return {
      items: backwards ? found.toReversed() : found,
      more: cursor !== null,
      exhausted: hits || cursor === null,
      cursor,
    };
  }

  async count(filter: DecisionFilter): Promise<{ count: number; exact: boolean }> {
    const { lower, upper } = bounds(filter, { limit: 0 });
    const { conditions, values } = filterConditions(filter, 4);
    const walk = isPlain(filter) ? MAX_COUNT + 1 : MAX_WALK;
    const { rows } = await this.#db.run<{ count: number; walked: number }>(
      {
        name: '',
        priority: 'read',
        text: `SELECT (count(*) FILTER (WHERE ${conditions}))::int AS count, count(*)::int AS walked FROM (
  SELECT * FROM decision d WHERE d.id > $1 AND d.id < $2 ${filter.executionId === undefined ? '' : 'AND d.execution_id = $4'}
  ORDER BY d.id DESC LIMIT $3
) d`,
      },
      [lower, upper, walk, ...values],
    );
    const { count = 0, walked = 0 } = rows[0] ?? {};
    return { count: Math.min(count, MAX_COUNT), exact: walked < walk && count <= MAX_COUNT };
  }

  /** Where a walk that was cut off by its bound has ended; null where it saw everything. */
  async #walkedTo(
    order: 'ASC' | 'DESC',
    lower: string,
    upper: string,
    walk: number,
    executionId: string | undefined,
  ): Promise<string | null> {
    const { rows } = await this.#db.run<{ id: string }>(
      {
        name: '',
        priority: 'read',
        text: `SELECT d.id FROM decision d WHERE d.id > $1 AND d.id < $2 ${executionId === undefined ? '' : 'AND d.execution_id = $4'}
ORDER BY d.id ${order} OFFSET $3 LIMIT 1`,
      },
      [lower, upper, walk - 1, ...(executionId === undefined ? [] : [executionId])],
    );
    return rows[0] === undefined ? null : rawId(rows[0].id);
  }

  async #decode(rows: readonly Row[], candidate: number | null = null): Promise<StoredDecision[]> {
    const frames = await this.#readFrames(rows);
    return rows.flatMap((row) => {
      const read = frames.get(row.frameId ?? '');
      // Retention has dropped the frame before the decision that points at it, or it is damaged: nothing can be told.
      if (read === undefined) return [];
      if (candidate !== null && !keptWorkers(row, read).includes(candidate) && row.winner !== candidate) return [];
      const decision = decodeDecision(row, read);
      const id = rawId(row.id);
      return [
        {
          id,
          executionId: rawId(row.executionId),
          n: row.n,
          at: new Date(timeOfId(id)),
          attempt: row.attempt,
          generation: row.generation,
          versionId: row.versionId,
          waitMs: row.waitMs,
          durationUs: row.durationUs,
          decision,
          explanation: explain(decision),
        },
      ];
    });
  }

  async #readFrames(rows: readonly Row[]): Promise<Map<string, ReadFrame>> {
    const wanted = new Set(rows.flatMap((row) => (row.frameId === null ? [] : [row.frameId])));
    const found = new Map<string, ReadFrame>();
    const missing: string[] = [];
    for (const id of wanted) {
      const known = this.#frames.get(id);
      if (known === undefined) missing.push(id);
      else found.set(id, known);
    }
    if (missing.length > 0) {
      const result = await this.#db.run<{ id: string; workers: number[]; data: Buffer }>(FRAMES, [missing]);
      for (const { id, workers, data } of result.rows) {
        const frame = await decodeFrame(data, workers);
        found.set(id, frame);
        this.#frames.set(id, frame);
      }
      for (const id of this.#frames.keys()) {
        if (this.#frames.size <= MAX_FRAMES) break;
        this.#frames.delete(id);
      }
    }
    return found;
  }
}

/** Nothing to look for but a time, or an execution. */
function isPlain(filter: DecisionFilter): boolean {
  const { executionId: _execution, after: _after, before: _before, ...rest } = filter;
  return Object.values(rest).every((value) => value === undefined);
}

function candidateOf(filter: DecisionFilter): number | null {
  return filter.candidate ?? filter.worker ?? null;
}

function floorId(at: Date): string {
  return `${Math.max(0, at.getTime()).toString(16).padStart(12, '0')}${'0'.repeat(20)}`;
}

/** Both exclusive. */
function bounds(filter: DecisionFilter, page: DecisionPageRequest): { lower: string; upper: string } {
  const lowers = [
    FIRST_ID,
    filter.executionId,
    filter.after && floorId(new Date(filter.after.getTime() + 1)),
    page.before,
  ];
  const uppers = [LAST_ID, filter.before && floorId(filter.before), page.after];
  const texts = (all: (string | undefined)[]): string[] =>
    all.filter((id): id is string => id !== undefined).toSorted();
  return { lower: texts(lowers).at(-1) ?? FIRST_ID, upper: texts(uppers)[0] ?? LAST_ID };
}

/** The execution is always the first value. */
function filterConditions(filter: DecisionFilter, first: number): { conditions: string; values: unknown[] } {
  const parts: string[] = [];
  const values: unknown[] = [];
  const add = (value: unknown, text: (parameter: string) => string): void => {
    if (value === undefined) return;
    values.push(value);
    parts.push(text(`$${first + values.length - 1}`));
  };
  const framed = (p: string): string =>
    `EXISTS (SELECT FROM decision_frame f WHERE f.id = d.frame_id AND ${p}::int = ANY (f.workers))`;
  add(filter.executionId, (p) => `d.execution_id = ${p}::uuid`);
  add(filter.outcomes, (p) => `d.outcome = ANY (${p}::text[])`);
  add(filter.versionIds, (p) => `d.version_id = ANY (${p}::int[])`);
  add(filter.winner, (p) => `d.winner = ${p}::int`);
  add(filter.candidate, framed);
  add(filter.worker, (p) => `(d.winner = ${p}::int OR ${framed(p)})`);
  add(filter.blinded, (p) => `d.blinded = ${p}::bool`);
  add(filter.degraded, (p) => `(d.degraded IS NOT NULL) = ${p}::bool`);
  add(
    filter.deploymentId,
    (p) => `EXISTS (SELECT FROM execution x WHERE x.id = d.execution_id AND x.deployment_id = ${p}::int)`,
  );
  return { conditions: parts.join(' AND ') || 'true', values };
}
