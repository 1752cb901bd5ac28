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
  const before = (a: number, b: number): boolean => goesBefore(a, b, totals, loads, nameRanks);
  // A heap with the last of the best on top: nearly all others are below its total and cost one comparison.
  const heap: number[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (let e = 0; e < count; e++) {
    const i = list[e] ?? 0;
    if (totals !== null && (totals[i] ?? 0) < least) continue;
    if (heap.length < limit) siftUp(heap, i, before);
    else if (before(i, heap[0] ?? 0)) siftDown(heap, i, before);
    else continue;
    if (totals !== null && heap.length === limit) least = totals[heap[0] ?? 0] ?? 0;
  }
  return heap.sort((a, b) => (before(a, b) ? -1 : 1));
}

function siftUp(heap: number[], item: number, before: (a: number, b: number) => boolean): void {
  let at = heap.length;
  heap.push(item);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] ?? 0;
    if (!before(above, item)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = item;
}

/** Replaces the top. */
function siftDown(heap: number[], item: number, before: (a: number, b: number) => boolean): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child] ?? 0, heap[child + 1] ?? 0)) child++;
    const below = heap[child] ?? 0;
    if (!before(item, below)) break;
    heap[at] = below;
    at = child;
  }
  heap[at] = item;
}

/** How many workers have each verdict; `eligible` have none. */
export function countVerdicts(fleet: Fleet, eligible: number): ArrayLike<number> {
  const { verdicts, counts } = fleet.scratch;
  counts.fill(0);
  if (eligible === fleet.size) return counts;
  for (let i = 0; i < fleet.size; i++) {
    const verdict = verdicts[i] ?? 0;
    counts[verdict] = (counts[verdict] ?? 0) + 1;
  }
  return counts;
}

/** Rejected workers, nearest misses (latest filter) first, by name among equals; verdicts from `from` up to `to`, at most `limit`. */
export function nearestMisses(
  fleet: Fleet,
  counts: ArrayLike<number>,
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
