import { VERDICT } from '../constraints/filters.ts';
import type { Fleet } from './fleet.ts';

/** Most candidates that one decision keeps of a larger fleet. */
export const KEPT_MAX = 50;

/** Whether the worker at `a` goes before the one at `b`: higher total, lower load, name (code points). */
function goesBefore(
  a: number,
  b: number,
  totals: Float64Array | null,
  loads: Float64Array,
  ranks: Int32Array,
): boolean {
  if (totals !== null) {
    const difference = (totals[a] ?? 0) - (totals[b] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  const difference = (loads[a] ?? 0) - (loads[b] ?? 0);
  return difference !== 0 ? difference < 0 : (ranks[a] ?? 0) < (ranks[b] ?? 0);
}

/** The best `limit` of the positions, best first. Without totals: least loaded. */
export function selectBest(
  fleet: Fleet,
  list: ArrayLike<number>,
  count: number,
  totals: Float64Array | null,
  limit: number,
): number[] {
  const { loads, nameRanks } = fleet;
  const best: number[] = [];
  for (let e = 0; e < count; e++) {
    const i = list[e] ?? 0;
    let at = best.length;
    if (at === limit) {
      if (!goesBefore(i, best[at - 1] ?? 0, totals, loads, nameRanks)) continue;
      at--;
    } else best.push(i);
    while (at > 0) {
      const before = best[at - 1] ?? 0;
      if (!goesBefore(i, before, totals, loads, nameRanks)) break;
      best[at] = before;
      at--;
    }
    best[at] = i;
  }
  return best;
}

/** How many workers have each verdict. */
export function countVerdicts(fleet: Fleet): number[] {
  const { verdicts } = fleet.scratch;
  const counts = Array.from({ length: VERDICT.unclaimed + 1 }, () => 0);
  for (let i = 0; i < fleet.size; i++) {
    const verdict = verdicts[i] ?? 0;
    counts[verdict] = (counts[verdict] ?? 0) + 1;
  }
  return counts;
}

/** Rejected workers, nearest misses (latest filter) first, by name among equals; verdicts from `from` up to `to`, at most `limit`. */
export function nearestMisses(
  fleet: Fleet,
  counts: readonly number[],
  from: number,
  to: number,
  limit: number,
): number[] {
  const { verdicts } = fleet.scratch;
  const found: number[] = [];
  for (let verdict = to; verdict >= from && found.length < limit; verdict--) {
    let left = Math.min(counts[verdict] ?? 0, limit - found.length);
    if (left === 0) continue;
    for (const i of fleet.nameOrder) {
      if (verdicts[i] !== verdict) continue;
      found.push(i);
      if (--left === 0) break;
    }
  }
  return found;
}

/** The first `limit` workers by name that pass everything before `verdict`, the winner always among them. */
export function firstByName(fleet: Fleet, verdict: number, winner: number | null, limit: number): number[] {
  const { verdicts } = fleet.scratch;
  const found: number[] = [];
  for (const i of fleet.nameOrder) {
    if (found.length >= limit) break;
    const own = verdicts[i] ?? 0;
    if (own === 0 || own >= verdict) found.push(i);
  }
  if (winner !== null && !found.includes(winner)) found[found.length - 1] = winner;
  return found;
}
