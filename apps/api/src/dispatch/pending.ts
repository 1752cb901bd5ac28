import type { JsonObject } from '@muster/core';
import { IndexedHeap } from './indexed-heap.ts';

/** Where an execution stands in the queue: higher priority first, then older (ids are time-ordered). */
export interface QueuePosition {
  readonly priority: number;
  readonly id: string;
}

/** What the dispatcher keeps in memory of one queued execution. */
export interface PendingEntry extends QueuePosition {
  readonly generation: number;
  /** Of the row, as far as known: hints that are not newer say nothing. */
  revision: number;
  readonly versionId: number;
  readonly attempt: number;
  /** Since when it is unassigned, ms by the database's clock. */
  readonly queuedAt: number;
  /** Back-off: not before this time (ms by the database's clock). */
  readonly notBefore: number | null;
  readonly targetRoles: readonly string[];
  readonly requiredWorker: string | null;
  readonly preferredWorker: string | null;
  /** The worker that did not claim it last time. */
  readonly skipWorker: string | null;
  /** Only what the version's policies read. */
  readonly input: JsonObject;
  readonly routingInput: JsonObject | null;
  /** Reason that its row says it is parked for; null: not parked. */
  parkedReason: string | null;
  /** Equal for executions that the same workers can take. Holds routing values: never logged. */
  readonly shapeKey: string;
}

/** Why a shape waits. */
export interface Verdict {
  readonly reason: string;
  /** Workers match, but all of them are full. */
  readonly saturated: boolean;
  /** When it was found, ms by the database's clock. */
  readonly since: number;
}

export class Shape {
  readonly key: string;
  readonly versionId: number;
  readonly targetRoles: readonly string[];
  readonly requiredWorker: string | null;
  /** In queue order. */
  readonly entries: PendingEntry[] = [];
  /** Set while nobody can take it. */
  aside: Verdict | null = null;
  /** From here on there may be rows that are not in memory. */
  overflow: QueuePosition | null = null;
  /** Entries whose row does not yet say why they wait. */
  readonly toMark = new Set<PendingEntry>();
  heapIndex = -1;

  constructor(first: PendingEntry) {
    this.key = first.shapeKey;
    this.versionId = first.versionId;
    this.targetRoles = first.targetRoles;
    this.requiredWorker = first.requiredWorker;
  }
}

export function standsBefore(a: QueuePosition, b: QueuePosition): boolean {
  return a.priority !== b.priority ? a.priority > b.priority : a.id < b.id;
}

export interface PendingLimits {
  maxIds: number;
  maxPerShape: number;
}

const DEFAULT_LIMITS: PendingLimits = { maxIds: 100_000, maxPerShape: 5_000 };

/**
 * The queue as the leader sees it, grouped by shape. A shape that nobody can take is set aside whole and costs nothing until something
 * changes that can help it; what stands behind it goes on. Memory is bounded: per shape and in all; the rest stays in the table.
 */
export class PendingWork {
  readonly #limits: PendingLimits;
  readonly #byId = new Map<string, PendingEntry>();
  readonly #shapes = new Map<string, Shape>();
  readonly #ready = new IndexedHeap<Shape>((a, b) => standsBefore(head(a), head(b)));
  /** In the order in which they were set aside. */
  readonly #aside = new Set<Shape>();
  readonly #dirty = new Set<Shape>();
  readonly #overflowing = new Set<Shape>();
  readonly #delayed = new IndexedHeap<{ entry: PendingEntry; until: number; heapIndex: number }>(
    (a, b) => a.until < b.until,
  );
  readonly #delays = new Map<string, { entry: PendingEntry; until: number; heapIndex: number }>();

  constructor(limits: Partial<PendingLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  get size(): number {
    return this.#byId.size;
  }

  get shapeCount(): number {
    return this.#shapes.size;
  }

  /** Shapes that are worth a decision now. */
  get readyCount(): number {
    return this.#ready.size;
  }

  get(id: string): PendingEntry | undefined {
    return this.#byId.get(id);
  }

  /** Puts an execution into the queue; newer knowledge of the same one replaces older. `now`: ms by the database's clock. */
  add(entry: PendingEntry, now: number): void {
    const known = this.#byId.get(entry.id);
    if (known !== undefined) {
      if (
        known.generation > entry.generation ||
        (known.generation === entry.generation && known.revision >= entry.revision)
      )
        return;
      this.remove(entry.id);
    }
    if (this.#byId.size >= this.#limits.maxIds && !this.#makeRoom()) return;
    if (entry.notBefore !== null && entry.notBefore > now) this.#delay(entry, entry.notBefore);
    else this.#enqueue(entry);
  }

  remove(id: string): PendingEntry | undefined {
    const entry = this.#byId.get(id);
    if (entry === undefined) return undefined;
    this.#byId.delete(id);
    const delay = this.#delays.get(id);
    if (delay !== undefined) {
      this.#delays.delete(id);
      this.#delayed.remove(delay);
      return entry;
    }
    const shape = this.#shapes.get(entry.shapeKey);
    if (shape !== undefined) {
      const index = positionOf(shape.entries, entry);
      if (shape.entries[index] === entry) shape.entries.splice(index, 1);
      this.#unmark(shape, entry);
      this.#settle(shape);
    }
    return entry;
  }

  /** The next execution in queue order among the shapes that are not set aside; it leaves the queue. */
  take(now: number): { entry: PendingEntry; shape: Shape } | null {
    this.#wakeDelayed(now);
    const shape = this.#ready.peek();
    if (shape === undefined) return null;
    const entry = head(shape);
    this.remove(entry.id);
    return { entry, shape };
  }

  /** Waits until a time for reasons of its own (back-off, a refused write), without holding up its shape. */
  delay(entry: PendingEntry, until: number): void {
    this.remove(entry.id);
    this.#delay(entry, until);
  }

  /** When the next delayed entry is due, ms by the database's clock. */
  nextDue(): number | null {
    return this.#delayed.peek()?.until ?? null;
  }

  /** Nobody can take this shape: it waits, with the entry that showed it, until `reconsider`. */
  setAside(entry: PendingEntry, verdict: Verdict): void {
    if (!this.#byId.has(entry.id)) this.#enqueue(entry);
    const shape = this.#shapes.get(entry.shapeKey);
    if (shape === undefined) return;
    this.#ready.remove(shape);
    this.#aside.delete(shape);
    this.#aside.add(shape);
    shape.aside = verdict;
    shape.toMark.clear();
    for (const waiting of shape.entries) if (waiting.parkedReason !== verdict.reason) shape.toMark.add(waiting);
    if (shape.toMark.size > 0) this.#dirty.add(shape);
    else this.#dirty.delete(shape);
  }

  /** Puts the shapes that a change may help back among those worth a decision. Returns how many. */
  reconsider(helps: (shape: Shape) => boolean, limit = Number.POSITIVE_INFINITY): number {
    let count = 0;
    for (const shape of this.#aside) {
      if (count >= limit) break;
      if (!helps(shape)) continue;
      this.#aside.delete(shape);
      this.#dirty.delete(shape);
      shape.aside = null;
      this.#ready.place(shape);
      count += 1;
    }
    return count;
  }

  /** Set-aside shapes with executions whose rows do not yet say why they wait. */
  unmarkedShapes(): Iterable<Shape> {
    return this.#dirty;
  }

  /** The row says now that it is parked for this reason. */
  marked(entry: PendingEntry, reason: string): void {
    entry.parkedReason = reason;
    const shape = this.#shapes.get(entry.shapeKey);
    if (shape !== undefined) this.#unmark(shape, entry);
  }

  /** Set-aside shapes, for the figures. */
  asideShapes(): Iterable<Shape> {
    return this.#aside;
  }

  /** Shapes that have used up most of what memory holds of them. */
  needingRefill(): Shape[] {
    const low = this.#limits.maxPerShape / 4;
    return [...this.#overflowing].filter((shape) => shape.entries.length <= low);
  }

  /** Rows up to this position have been read again; null: to the end of the queue. */
  refilled(shape: Shape, upTo: QueuePosition | null): void {
    shape.overflow = upTo;
    if (upTo === null) this.#overflowing.delete(shape);
    this.#settle(shape);
  }

  clear(): void {
    for (const shape of this.#shapes.values()) this.#ready.remove(shape);
    for (const delay of this.#delays.values()) this.#delayed.remove(delay);
    this.#byId.clear();
    this.#shapes.clear();
    this.#aside.clear();
    this.#dirty.clear();
    this.#overflowing.clear();
    this.#delays.clear();
  }

  #enqueue(entry: PendingEntry): void {
    let shape = this.#shapes.get(entry.shapeKey);
    if (shape === undefined) {
      shape = new Shape(entry);
      this.#shapes.set(entry.shapeKey, shape);
    }
    const index = positionOf(shape.entries, entry);
    if (shape.entries.length >= this.#limits.maxPerShape) {
      const last = shape.entries.at(-1);
      if (last === undefined || index >= shape.entries.length) {
        this.#noteOverflow(shape, entry);
        return;
      }
      shape.entries.pop();
      this.#byId.delete(last.id);
      this.#unmark(shape, last);
      this.#noteOverflow(shape, last);
    }
    shape.entries.splice(index, 0, entry);
    this.#byId.set(entry.id, entry);
    if (shape.aside === null) {
      this.#ready.place(shape);
    } else if (entry.parkedReason !== shape.aside.reason) {
      shape.toMark.add(entry);
      this.#dirty.add(shape);
    }
  }

  #delay(entry: PendingEntry, until: number): void {
    const delay = { entry, until, heapIndex: -1 };
    this.#byId.set(entry.id, entry);
    this.#delays.set(entry.id, delay);
    this.#delayed.place(delay);
  }

  #wakeDelayed(now: number): void {
    for (let first = this.#delayed.peek(); first !== undefined && first.until <= now; first = this.#delayed.peek()) {
      this.#delayed.remove(first);
      this.#delays.delete(first.entry.id);
      this.#byId.delete(first.entry.id);
      this.#enqueue(first.entry);
    }
  }

  #noteOverflow(shape: Shape, entry: QueuePosition): void {
    this.#overflowing.add(shape);
    if (shape.overflow === null || standsBefore(entry, shape.overflow)) {
      shape.overflow = { priority: entry.priority, id: entry.id };
    }
  }

  #unmark(shape: Shape, entry: PendingEntry): void {
    if (shape.toMark.delete(entry) && shape.toMark.size === 0) this.#dirty.delete(shape);
  }

  /** After an entry has gone: the shape's rank has changed, or it is empty. */
  #settle(shape: Shape): void {
    if (shape.entries.length > 0) {
      if (shape.aside === null) this.#ready.place(shape);
      return;
    }
    this.#ready.remove(shape);
    this.#aside.delete(shape);
    this.#dirty.delete(shape);
    if (shape.overflow === null) this.#shapes.delete(shape.key);
    else shape.aside = null;
  }

  /**
   * Lets go of what has been waiting aside the longest; the walk through the table finds it again. False: all that is in memory is ready or
   * delayed, and the newcomer must wait in the table.
   */
  #makeRoom(): boolean {
    const shape = this.#aside.values().next().value;
    if (shape === undefined) return false;
    const keep = shape.entries.length > 1 ? 1 : 0;
    for (const entry of shape.entries.splice(keep)) {
      this.#byId.delete(entry.id);
      this.#unmark(shape, entry);
      if (keep === 1) this.#noteOverflow(shape, entry);
    }
    if (keep === 1) {
      this.#aside.delete(shape);
      this.#aside.add(shape);
    } else {
      this.#settle(shape);
    }
    return true;
  }
}

function head(shape: Shape): PendingEntry {
  return shape.entries[0] as PendingEntry;
}

/** Where the entry stands, or would stand. */
function positionOf(entries: readonly PendingEntry[], entry: QueuePosition): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (standsBefore(entries[middle] as PendingEntry, entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}
