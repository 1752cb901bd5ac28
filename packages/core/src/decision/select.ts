import type { Fleet } from './fleet.ts';

/** Most candidates that one decision keeps of a larger fleet. */
export const KEPT_MAX = 50;

/**
 * The best `limit` of the positions, best first: higher total, lower load, name (code points). Without totals: least loaded.
 */
export function selectBest(
  fleet: Fleet,
  list: ArrayLike<number>,
  count: number,
  totals: Float64Array | null,
  limit: number,
): number[] {
  return new Selection(fleet, totals, limit).of(list, count);
}

/**
 * A heap with the last of the best on top: nearly all others are below its total and cost one comparison. Keys stand beside
 * the positions: the total, or the load turned round.
 */
class Selection {
  readonly #limit: number;
  readonly #totals: Float64Array | null;
  readonly #loads: Float64Array;
  readonly #ranks: Int32Array;
  readonly #keys: Float64Array;
  readonly #items: Int32Array;
  #size = 0;

  constructor(fleet: Fleet, totals: Float64Array | null, limit: number) {
    this.#limit = limit;
    this.#totals = totals;
    this.#loads = fleet.loads;
    this.#ranks = fleet.nameRanks;
    this.#keys = fleet.scratch.keys;
    this.#items = fleet.scratch.items;
  }

  of(list: ArrayLike<number>, count: number): number[] {
    const totals = this.#totals;
    const loads = this.#loads;
    const keys = this.#keys;
    let least = Number.NEGATIVE_INFINITY;
    for (let e = 0; e < count; e++) {
      const i = list[e] ?? 0;
      const key = totals === null ? -(loads[i] ?? 0) : (totals[i] ?? 0);
      if (key < least) continue;
      if (this.#size < this.#limit) this.#push(key, i);
      else if (this.#before(key, i, 0)) this.#replaceTop(key, i);
      if (this.#size === this.#limit) least = keys[0] ?? 0;
    }
    const best = Array.from({ length: this.#size }, () => 0);
    for (let at = this.#size - 1; at >= 0; at--) {
      best[at] = this.#items[0] ?? 0;
      this.#size = at;
      this.#replaceTop(keys[at] ?? 0, this.#items[at] ?? 0);
    }
    return best;
  }

  /** Whether an item goes before the one at a place of the heap. */
  #before(key: number, item: number, place: number): boolean {
    const other = this.#keys[place] ?? 0;
    if (key !== other) return key > other;
    const against = this.#items[place] ?? 0;
    const difference = (this.#loads[item] ?? 0) - (this.#loads[against] ?? 0);
    return difference !== 0 ? difference < 0 : (this.#ranks[item] ?? 0) < (this.#ranks[against] ?? 0);
  }

  #put(place: number, key: number, item: number): void {
    this.#keys[place] = key;
    this.#items[place] = item;
  }

  #push(key: number, item: number): void {
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#before(key, item, parent)) break;
      this.#put(at, this.#keys[parent] ?? 0, this.#items[parent] ?? 0);
      at = parent;
    }
    this.#put(at, key, item);
  }

  #replaceTop(key: number, item: number): void {
    let at = 0;
    for (let child = 1; child < this.#size; child = 2 * at + 1) {
      const next = child + 1;
      // The worse of the two children goes up.
      if (next < this.#size && this.#before(this.#keys[child] ?? 0, this.#items[child] ?? 0, next)) child = next;
      if (!this.#before(key, item, child)) break;
      this.#put(at, this.#keys[child] ?? 0, this.#items[child] ?? 0);
      at = child;
    }
    this.#put(at, key, item);
  }
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
