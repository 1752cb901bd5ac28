import { compareCodePoints } from '../lib/code-point-order.ts';
import { VERDICT } from '../constraints/filters.ts';
import { parseSelector, type WorkerValue } from '../policy/values.ts';
import type { WorkerFacts, WorkerResources } from '../worker/worker-facts.ts';
import { type Column, setColumnValue, type TextColumn, textColumn } from './columns.ts';

const COLUMNS_MAX = 256;

/** A value per worker that follows from its facts, kept until they change. */
export interface DerivedColumn {
  readonly values: Uint8Array;
  seen: number;
}

/**
 * The fleet as the dispatcher holds it: facts by position, loads, and columns per selector that are built when a policy first
 * reads them and patched when a worker's facts change. Positions are stable until `remove`. One decision at a time may use it
 * (everything is synchronous), and it keeps no reference to a decision.
 */
export class Fleet {
  #facts: WorkerFacts[] = [];
  #positions = new Map<string, number>();
  #loads = new Float64Array(0);
  #capacities = new Float64Array(0);
  #columns = new Map<string, { column: Column; seen: number }>();
  #derived = new WeakMap<object, DerivedColumn>();
  #order: Int32Array | null = null;
  #ranks = new Int32Array(0);
  /** Positions whose facts changed, in order; `#base` of them were forgotten. */
  #changes: number[] = [];
  #base = 0;
  /** Working memory of a decision, sized to the fleet. */
  readonly scratch = new Scratch();

  constructor(facts: Iterable<WorkerFacts>) {
    for (const one of facts) this.add(one);
  }

  get size(): number {
    return this.#facts.length;
  }

  facts(index: number): WorkerFacts {
    const facts = this.#facts[index];
    if (facts === undefined) throw new RangeError(`no worker at position ${index}`);
    return facts;
  }

  /** Position of a worker, -1 where there is none of that name. */
  indexOf(name: string): number {
    return this.#positions.get(name) ?? -1;
  }

  loadOf(index: number): number {
    return this.#loads[index] ?? 0;
  }

  /** Loads of all workers by position; may be longer than the fleet. */
  get loads(): Float64Array {
    return this.#loads;
  }

  /** Capacities by position, Infinity where there is none (0 reads as none). */
  get capacities(): Float64Array {
    return this.#capacities;
  }

  /** Live executions on a worker. */
  setLoad(index: number, load: number): void {
    this.#loads[index] = load;
    const utilization = this.#columns.get('utilization');
    if (utilization !== undefined) setColumnValue(utilization.column, index, this.read(index, 'utilization'));
  }

  /** Replaces what is known of the worker at a position, its load included. The name must not change. */
  update(index: number, facts: WorkerFacts): void {
    if (this.facts(index).name !== facts.name) throw new RangeError(`position ${index} is not ${facts.name}`);
    this.#write(index, facts);
    this.#changes.push(index);
    if (this.#changes.length > 4 * this.size + 64) {
      this.#base += this.#changes.length;
      this.#changes = [];
    }
  }

  /** Adds a worker, or replaces the facts of the one with its name. Returns its position. */
  add(facts: WorkerFacts): number {
    const known = this.#positions.get(facts.name);
    if (known !== undefined) {
      this.update(known, facts);
      return known;
    }
    const index = this.#facts.length;
    this.#facts.push(facts);
    this.#positions.set(facts.name, index);
    if (index >= this.#loads.length) {
      this.#loads = grown(this.#loads, index);
      this.#capacities = grown(this.#capacities, index);
    }
    this.#write(index, facts);
    this.#forget();
    return index;
  }

  /** Removes a worker; the last one takes its position. False where there is none of that name. */
  remove(name: string): boolean {
    const index = this.#positions.get(name);
    const last = this.#facts.pop();
    if (index === undefined || last === undefined) {
      if (last !== undefined) this.#facts.push(last);
      return false;
    }
    this.#positions.delete(name);
    if (index < this.#facts.length) {
      this.#facts[index] = last;
      this.#positions.set(last.name, index);
      this.#loads[index] = this.#loads[this.#facts.length] ?? 0;
      this.#capacities[index] = this.#capacities[this.#facts.length] ?? 0;
    }
    this.#forget();
    return true;
  }

  /** Positions in name order. */
  get nameOrder(): Int32Array {
    return this.#sortNames();
  }

  /** Rank of each position in name order. */
  get nameRanks(): Int32Array {
    this.#sortNames();
    return this.#ranks;
  }

  /** What a static selector reads of one worker. */
  read(index: number, selector: string): WorkerValue {
    return readSelector(this.facts(index), selector, this.loadOf(index));
  }

  /** All workers' values under a static selector; null for a selector of no known kind. */
  column(selector: string): Column | null {
    const parsed = parseSelector(selector);
    if (parsed === null) return null;
    return this.#cached(
      selector,
      () => {
        if (parsed.kind === 'load') return { kind: 'number', values: this.#loads };
        if (parsed.kind === 'label' || parsed.kind === 'meta') return textColumn(this.size);
        return { kind: 'number', values: new Float64Array(this.size) };
      },
      (index) => this.read(index, selector),
    );
  }

  /** The workers' roles. */
  get roles(): TextColumn {
    const column = this.#cached(
      'role',
      () => textColumn(this.size),
      (index) => this.facts(index).role,
    );
    if (column.kind !== 'text') throw new TypeError('roles are texts');
    return column;
  }

  #cached(key: string, create: () => Column, read: (index: number) => WorkerValue): Column {
    const known = this.#columns.get(key);
    if (known !== undefined) {
      const { column } = known;
      const overgrown = column.kind === 'text' && column.distinct.length > 2 * this.size + 64;
      if (known.seen >= this.#base && !overgrown) {
        this.#catchUp(known, (index) => setColumnValue(column, index, read(index)));
        return column;
      }
      this.#columns.delete(key);
    }
    const column = create();
    for (let i = 0; i < this.size; i++) setColumnValue(column, i, read(i));
    if (this.#columns.size >= COLUMNS_MAX) this.#forgetOldestColumn();
    this.#columns.set(key, { column, seen: this.#base + this.#changes.length });
    return column;
  }

  #forgetOldestColumn(): void {
    const oldest = this.#columns.keys().next();
    if (oldest.done !== true) this.#columns.delete(oldest.value);
  }

  /** A small number per worker that `judge` reads from its facts alone; `owner` says whose column it is. */
  derived(owner: object, judge: (facts: WorkerFacts) => number): Uint8Array {
    const known = this.#derived.get(owner);
    if (known !== undefined && known.seen >= this.#base) {
      const { values } = known;
      this.#catchUp(known, (index) => {
        values[index] = judge(this.facts(index));
      });
      return values;
    }
    const values = Uint8Array.from(this.#facts, judge);
    this.#derived.set(owner, { values, seen: this.#base + this.#changes.length });
    return values;
  }

  #sortNames(): Int32Array {
    if (this.#order !== null) return this.#order;
    const order = Int32Array.from(this.#facts, (_, index) => index);
    order.sort((a, b) => compareCodePoints(this.facts(a).name, this.facts(b).name));
    this.#ranks = new Int32Array(this.size);
    order.forEach((position, rank) => {
      this.#ranks[position] = rank;
    });
    this.#order = order;
    return order;
  }

  #catchUp(cache: { seen: number }, patch: (index: number) => void): void {
    for (let i = cache.seen - this.#base; i < this.#changes.length; i++) {
      const index = this.#changes[i];
      if (index !== undefined) patch(index);
    }
    cache.seen = this.#base + this.#changes.length;
  }

  #write(index: number, facts: WorkerFacts): void {
    this.#facts[index] = facts;
    this.#loads[index] = facts.load;
    this.#capacities[index] = facts.capacity !== null && facts.capacity > 0 ? facts.capacity : Number.POSITIVE_INFINITY;
  }

  #forget(): void {
    this.#columns.clear();
    this.#derived = new WeakMap();
    this.#order = null;
    this.#base += this.#changes.length;
    this.#changes = [];
  }
}

/** A fleet ready for many decisions. */
export function prepareFleet(facts: Iterable<WorkerFacts>): Fleet {
  return new Fleet(facts);
}

/** What a static selector reads of a worker with that load; undefined where it has no such value, or none of that kind. */
export function readSelector(facts: WorkerFacts, selector: string, load: number): WorkerValue {
  const parsed = parseSelector(selector);
  switch (parsed?.kind) {
    case undefined:
      return undefined;
    case 'label':
      return facts.labels.get(parsed.key);
    case 'meta':
      return usable(facts.metadata.get(parsed.key));
    case 'metric':
      return usable(facts.metrics.get(parsed.key));
    case 'resource':
      return usable(RESOURCE_FIELDS.has(parsed.key) ? facts.resources?.[parsed.key as ResourceField] : undefined);
    case 'load':
      return load;
    case 'utilization':
      return facts.capacity !== null && facts.capacity > 0 ? load / facts.capacity : undefined;
  }
}

type ResourceField = Exclude<keyof WorkerResources, 'gpus'>;
const RESOURCE_FIELDS: ReadonlySet<string> = new Set<ResourceField>([
  'cpu_total',
  'cpu_available',
  'memory_total',
  'memory_available',
  'disk_total',
  'disk_free',
]);

/** NaN and infinities are no values (they cannot be stored either); -0 is 0. */
function usable(value: string | number | null | undefined): WorkerValue {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return value === 0 ? 0 : value;
}

function grown(array: Float64Array, least: number): Float64Array<ArrayBuffer> {
  const next = new Float64Array(Math.max(16, least + 1, array.length * 2));
  next.set(array);
  return next;
}

/** Arrays that one decision fills and the next one reuses. */
class Scratch {
  verdicts = new Uint8Array(0);
  totals = new Float64Array(0);
  eligible = new Int32Array(0);
  gated = new Int32Array(0);
  numbers = new Float64Array(0);
  /** Keys and positions of the candidates that a decision keeps. */
  readonly keys = new Float64Array(64);
  readonly items = new Int32Array(64);
  readonly counts = new Int32Array(VERDICT.unclaimed + 1);

  /** Makes room for a fleet of `size`; contents are undefined. */
  fit(size: number): this {
    if (this.verdicts.length < size) {
      const room = Math.max(64, 2 * size);
      this.verdicts = new Uint8Array(room);
      this.totals = new Float64Array(room);
      this.eligible = new Int32Array(room);
      this.gated = new Int32Array(room);
      this.numbers = new Float64Array(room);
    }
    return this;
  }
}
