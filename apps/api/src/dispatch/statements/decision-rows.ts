/** The part that assign, park and fail share: the decisions go into the same statement as the change that they explain. */

/** A decision as it is stored. `winner` and a frame's `workers` are worker ids; the frame holds everything else. */
export interface DecisionWrite {
  /** Raw UUID v7. */
  decisionId: string;
  frameId: string | null;
  waitMs: number;
  durationUs: number;
  winner: number | null;
  eligible: number;
  rejected: number;
  blinded: boolean;
  method: string;
  reason: string | null;
  degraded: string | null;
  /** Positions in the frame, and the loads beside them. */
  kept: readonly number[];
  loads: readonly number[];
  refs: readonly number[];
}

export interface FrameWrite {
  /** Raw UUID v7. */
  id: string;
  versionId: number;
  blinded: boolean;
  /** SHA-256 of `data`. */
  hash: Buffer;
  workers: readonly number[];
  /** The compressed frame, blinded already. */
  data: Buffer;
}

/** An execution that a leader statement changes: only while it still has this generation. */
export interface GuardedItem {
  /** Raw UUID. */
  id: string;
  generation: number;
}

const ITEM_COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ['id', 'uuid'],
  ['generation', 'int'],
  ['decision_id', 'uuid'],
  ['frame_id', 'uuid'],
  ['wait_ms', 'float8'],
  ['duration_us', 'float8'],
  ['winner', 'int'],
  ['eligible', 'int'],
  ['rejected', 'int'],
  ['blinded', 'bool'],
  ['method', 'text'],
  ['reason', 'text'],
  ['degraded', 'text'],
  ['kept', 'text'],
  ['loads', 'text'],
  ['refs', 'text'],
];
const FRAME_COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ['id', 'uuid'],
  ['version_id', 'int'],
  ['blinded', 'bool'],
  ['hash', 'bytea'],
  ['workers', 'text'],
  ['data', 'bytea'],
];
/** After the epoch and the holder. */
const FIRST_PARAMETER = 3;

function unnest(columns: readonly (readonly [string, string])[], first: number, alias: string): string {
  const parameters = columns.map(([, type], index) => `$${first + index}::${type}[]`).join(', ');
  return `unnest(${parameters}) AS ${alias} (${columns.map(([name]) => name).join(', ')})`;
}

/** `FROM …`-ready rows of the items, with further columns of the statement's own. */
export function itemRows(extra: readonly (readonly [name: string, type: string])[] = []): string {
  return unnest([...ITEM_COLUMNS, ...extra], FIRST_PARAMETER + FRAME_COLUMNS.length, 'i');
}

/**
 * `moved` must return id, generation, event_seq, attempt and version_id of the rows that were changed, `fence` a `now`. A frame is written only
 * where something was changed, and once: the same id again is the same frame.
 */
export function decisionInserts(outcome: 'ASSIGNED' | 'PARKED' | 'FAILED'): string {
  return `frames AS (
  INSERT INTO decision_frame (id, version_id, blinded, hash, workers, data)
  SELECT w.id, w.version_id, w.blinded, w.hash, w.workers::int[], w.data
  FROM fence, ${unnest(FRAME_COLUMNS, FIRST_PARAMETER, 'w')}
  WHERE EXISTS (SELECT FROM moved)
  ON CONFLICT DO NOTHING
), decisions AS (
  INSERT INTO decision (id, execution_id, frame_id, wait_ms, duration_us, n, generation, version_id, winner, eligible, rejected,
    attempt, blinded, outcome, method, reason, degraded, kept, loads, refs)
  SELECT i.decision_id, m.id, i.frame_id, i.wait_ms, i.duration_us, m.event_seq, m.generation, m.version_id, i.winner, i.eligible,
    i.rejected, m.attempt + 1, i.blinded, '${outcome}', i.method, i.reason, i.degraded, i.kept::int2[], i.loads::int4[], i.refs::int2[]
  FROM moved m JOIN item i ON i.id = m.id
)`;
}

/** The values for `$3` and on: frames, items, then the statement's own columns. */
export function decisionValues(
  frames: readonly FrameWrite[],
  items: readonly (GuardedItem & DecisionWrite)[],
): unknown[] {
  return [
    frames.map((frame) => frame.id),
    frames.map((frame) => frame.versionId),
    frames.map((frame) => frame.blinded),
    frames.map((frame) => frame.hash),
    frames.map((frame) => arrayText(frame.workers)),
    frames.map((frame) => frame.data),
    items.map((item) => item.id),
    items.map((item) => item.generation),
    items.map((item) => item.decisionId),
    items.map((item) => item.frameId),
    items.map((item) => item.waitMs),
    items.map((item) => item.durationUs),
    items.map((item) => item.winner),
    items.map((item) => item.eligible),
    items.map((item) => item.rejected),
    items.map((item) => item.blinded),
    items.map((item) => item.method),
    items.map((item) => item.reason),
    items.map((item) => item.degraded),
    items.map((item) => arrayText(item.kept)),
    items.map((item) => arrayText(item.loads)),
    items.map((item) => arrayText(item.refs)),
  ];
}

/** An integer array inside an array: `unnest` would flatten it, so it travels as text. */
function arrayText(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`;
}

/** One item per execution: an UPDATE changes a row once, and must explain it once. */
export function uniqueById<T extends { id: string }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}
