import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import {
  type Decision,
  type DecisionFrame,
  type DecisionRow,
  packDecisions,
  type TracedDecision,
  unpackDecision,
} from '@muster/core';
import { timeOfId, type UuidSource } from '../../dispatch/ids.ts';
import type { DecisionWrite, FrameWrite } from '../../dispatch/statements/decision-rows.ts';

const compress = promisify(deflateRaw);
const expand = promisify(inflateRaw);

const DAY_MS = 86_400_000;
/** Frames of which is remembered that they are stored. */
const MAX_KNOWN = 1_000;

/** A decision to be stored, not blinded yet, and what storage knows about it. */
export interface MadeDecision {
  traced: TracedDecision;
  versionId: number;
  waitMs: number;
  durationUs: number;
}

/**
 * Turns decisions into what is stored: frames (blinded, compressed, content-addressed) and narrow rows that point into them. A frame that was
 * written before with the same bytes is pointed at again, as long as it lies in the same day's partition: retention drops whole days.
 */
export class DecisionEncoder {
  readonly #ids: UuidSource;
  readonly #workerId: (name: string) => number | undefined;
  readonly #known = new Map<string, { id: string; day: number }>();

  constructor(ids: UuidSource, workerId: (name: string) => number | undefined) {
    this.#ids = ids;
    this.#workerId = workerId;
  }

  /** Rows in the order of the decisions. Call `stored` when the frames are in the database. */
  async encode(
    made: readonly MadeDecision[],
  ): Promise<{ frames: FrameWrite[]; rows: DecisionWrite[]; stored(): void }> {
    const { frames, plans, rows } = packDecisions(made.map((one) => one.traced));
    const versionOf = new Map(made.map((one) => [one.traced.parts.plan, one.versionId]));
    const writes: FrameWrite[] = [];
    const keys: { key: string; id: string }[] = [];
    const frameIds: string[] = [];
    for (const [index, frame] of frames.entries()) {
      const plan = plans[index];
      const versionId = plan === undefined ? 0 : (versionOf.get(plan) ?? 0);
      const text = JSON.stringify(frame);
      const key = `${versionId}:${createHash('sha256').update(text).digest('base64')}`;
      const id = this.#ids.next();
      const known = this.#known.get(key);
      if (known !== undefined && known.day === dayOf(id)) {
        frameIds.push(known.id);
        continue;
      }
      const data = await compress(text, { level: 1 });
      frameIds.push(id);
      keys.push({ key, id });
      writes.push({
        id,
        versionId,
        blinded: frame.blinded,
        hash: createHash('sha256').update(data).digest(),
        workers: frame.candidates.map((candidate) => this.#workerId(candidate.worker) ?? 0),
        data,
      });
    }
    return {
      frames: writes,
      rows: rows.map((row, index) => this.#write(row, made[index], frameIds, frames)),
      stored: () => {
        for (const { key, id } of keys) this.#remember(key, id);
      },
    };
  }

  #write(
    row: DecisionRow,
    made: MadeDecision | undefined,
    frameIds: readonly string[],
    frames: readonly DecisionFrame[],
  ): DecisionWrite {
    return {
      decisionId: this.#ids.next(),
      frameId: frameIds[row.frame] ?? null,
      waitMs: made?.waitMs ?? 0,
      durationUs: made?.durationUs ?? 0,
      winner: row.winner === null ? null : (this.#workerId(row.winner) ?? null),
      eligible: row.eligible,
      rejected: row.rejected,
      blinded: frames[row.frame]?.blinded ?? false,
      method: row.method,
      reason: row.reason,
      degraded: row.degraded,
      kept: row.kept,
      loads: row.loads,
      refs: row.refs,
    };
  }

  #remember(key: string, id: string): void {
    this.#known.delete(key);
    this.#known.set(key, { id, day: dayOf(id) });
    const oldest = this.#known.keys().next().value;
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

function dayOf(id: string): number {
  return Math.floor(timeOfId(id) / DAY_MS);
}

/** A stored frame, read back: the ids of `workers` stand beside `frame.candidates`. */
export interface ReadFrame {
  frame: DecisionFrame;
  workers: readonly number[];
}

export async function decodeFrame(data: Buffer, workers: readonly number[]): Promise<ReadFrame> {
  return { frame: JSON.parse((await expand(data)).toString('utf8')) as DecisionFrame, workers };
}

/** The columns of a decision that say what was decided. */
export interface StoredColumns {
  outcome: Decision['outcome'];
  winner: number | null;
  method: Decision['method'];
  degraded: string | null;
  reason: string | null;
  eligible: number;
  rejected: number;
  kept: number[];
  loads: number[];
  refs: number[];
}

/** The row as core packed it. */
export function packedRow(columns: StoredColumns, { frame, workers }: ReadFrame): DecisionRow {
  const [context = 0, counts = 0] = columns.refs;
  return {
    frame: 0,
    outcome: columns.outcome,
    winner: columns.winner === null ? null : (frame.candidates[workers.indexOf(columns.winner)]?.worker ?? null),
    method: columns.method,
    degraded: columns.degraded,
    reason: columns.reason,
    eligible: columns.eligible,
    rejected: columns.rejected,
    kept: columns.kept,
    loads: columns.loads,
    refs: [context, counts],
  };
}

/** The decision as it was stored: exactly what `blind(decide(…))` was. */
export function decodeDecision(columns: StoredColumns, read: ReadFrame): Decision {
  return unpackDecision(read.frame, packedRow(columns, read));
}

/** Worker ids of the candidates that this decision kept. */
export function keptWorkers(columns: Pick<StoredColumns, 'kept'>, { frame, workers }: ReadFrame): number[] {
  return columns.kept.map((at) => workers[frame.entries[at]?.[0] ?? -1] ?? 0);
}
