import {
  type CompiledPolicy,
  constantText,
  type Gate,
  inputGate,
  normalise,
  type ResolvedTerm,
  resolveTerm,
  type TermContext,
  WEIGHT_MAX,
} from '../policy/score.ts';
import type { ReferenceSource } from '../policy/spec-reading.ts';
import { scoreCompare } from '../policy/values.ts';
import type { ComparisonOperator } from '../policy/spec.ts';
import { comparisonVerdicts, type NumberColumn, type TextColumn } from './columns.ts';
import { gateTest } from './filter-fleet.ts';
import type { Fleet } from './fleet.ts';

/** Positions of workers: the first `count` of `list`. */
interface Group {
  readonly list: Int32Array;
  readonly count: number;
  /** The list is 0, 1, 2 …: loops need not look into it. */
  readonly dense: boolean;
}

export interface Scoring {
  readonly contexts: readonly TermContext[];
  readonly weights: readonly number[];
}

/**
 * Scores the eligible workers: totals go to `scratch.totals` by position, in term order (ruling 7). A malformed term that
 * evaluation reaches degrades the whole policy; the text says which and why (ruling 10).
 */
export function scoreFleet(
  policy: CompiledPolicy,
  fleet: Fleet,
  count: number,
  source: ReferenceSource,
  hint: string | null,
  overrides: readonly (number | null)[] | undefined,
): Scoring | { readonly degraded: string } {
  if (policy.malformed !== null) return { degraded: policy.malformed };
  const { totals, eligible, gated } = fleet.scratch;
  for (let e = 0; e < count; e++) totals[eligible[e] ?? 0] = 0;
  const contexts: TermContext[] = [];
  const weights: number[] = [];
  for (const [index, term] of policy.terms.entries()) {
    const problem = (text: string): { degraded: string } => ({ degraded: `term ${index + 1} ${text}` });
    if (term.malformed !== null) return problem(term.malformed);
    const weight = usableWeight(overrides?.[index]) ?? term.weight;
    weights.push(weight);
    const closed = inputGate(term, source);
    if (closed !== null) {
      contexts.push({ mode: 'off', gate: null, note: closed });
      continue;
    }
    const gate = term.condition?.on === 'worker' ? plainGate(term.condition) : null;
    let group: Group = { list: eligible, count, dense: count === fleet.size };
    if (gate !== null) {
      group = { list: gated, count: fillGated(gated, group, gateTest(fleet, gate)), dense: false };
      if (group.count === 0) {
        contexts.push({
          mode: 'off',
          gate,
          note: `no eligible worker has ${gate.selector} ${gate.op} ${constantText(gate.value)}`,
        });
        continue;
      }
    }
    const resolved = resolveTerm(term, source, hint);
    if (resolved.state === 'malformed') return problem(resolved.problem);
    contexts.push(addTerm(fleet, resolved, weight, group, gate));
  }
  return { contexts, weights };
}

/** What-if weights may be 0: the term then counts for nothing. */
function usableWeight(weight: number | null | undefined): number | null {
  return typeof weight === 'number' && weight >= 0 && weight <= WEIGHT_MAX ? weight : null;
}

function plainGate(condition: Gate): Gate {
  return { selector: condition.selector, op: condition.op, value: condition.value };
}

function fillGated(gated: Int32Array, group: Group, test: (index: number) => boolean): number {
  let kept = 0;
  for (let e = 0; e < group.count; e++) {
    const i = group.list[e] ?? 0;
    if (test(i)) gated[kept++] = i;
  }
  return kept;
}

function addTerm(
  fleet: Fleet,
  term: Exclude<ResolvedTerm, { state: 'malformed' }>,
  weight: number,
  group: Group,
  gate: Gate | null,
): TermContext {
  switch (term.state) {
    case 'off':
      return { mode: 'off', gate, note: term.note };
    case 'sticky':
      return addSticky(fleet, term.hint, weight, group, gate);
    case 'prefer':
      return addPrefer(fleet, term, weight, group, gate);
    case 'least':
    case 'most':
      return addExtreme(fleet, term, weight, group, gate);
  }
}

function addSticky(fleet: Fleet, hint: string, weight: number, group: Group, gate: Gate | null): TermContext {
  const preferred = fleet.indexOf(hint);
  const { totals } = fleet.scratch;
  for (let e = 0; e < group.count; e++) {
    if (group.list[e] !== preferred) continue;
    totals[preferred] = (totals[preferred] ?? 0) + weight;
    return { mode: 'sticky', gate, hint, note: null };
  }
  const why =
    gate === null
      ? 'the preferred worker is not eligible'
      : 'the preferred worker is not eligible, or not for this term';
  return { mode: 'off', gate, note: why };
}

function addPrefer(
  fleet: Fleet,
  term: Extract<ResolvedTerm, { state: 'prefer' }>,
  weight: number,
  { list, count }: Group,
  gate: Gate | null,
): TermContext {
  const { key, op, reference } = term;
  const column = fleet.column(key);
  const { totals } = fleet.scratch;
  let known = false;
  if (column?.kind === 'text') {
    const verdicts = comparisonVerdicts(column, op, reference);
    const { codes } = column;
    for (let e = 0; e < count; e++) {
      const i = list[e] ?? 0;
      const code = codes[i] ?? -1;
      if (code < 0) continue;
      known = true;
      totals[i] = (totals[i] ?? 0) + (verdicts[code] ?? 0) * weight;
    }
  } else if (column !== null) known = addComparison(column, op, reference, totals, weight, list, count);
  if (!known) return { mode: 'off', gate, note: `no eligible worker has ${key}` };
  return { mode: 'prefer', gate, key, op, reference, note: null };
}

function addComparison(
  column: NumberColumn,
  op: ComparisonOperator,
  reference: string | number | boolean,
  totals: Float64Array,
  weight: number,
  list: Int32Array,
  count: number,
): boolean {
  const { values } = column;
  let known = false;
  if (typeof reference !== 'number') {
    for (let e = 0; e < count; e++) {
      const i = list[e] ?? 0;
      const value = values[i] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      known = true;
      if (scoreCompare(value, op, reference)) totals[i] = (totals[i] ?? 0) + weight;
    }
    return known;
  }
  return addNumberComparison(values, op, reference, totals, weight, list, count);
}

/**
 * What each operator gives for a smaller, an equal and a greater value, so that the loop has no branch that depends on the
 * values. At most one of the three products is not 0, so the sum is exact; NaN fails all three comparisons.
 */
function addNumberComparison(
  values: Float64Array,
  op: ComparisonOperator,
  reference: number,
  totals: Float64Array,
  weight: number,
  list: Int32Array,
  count: number,
): boolean {
  const smaller = op === '<' || op === '<=' || op === '!=' ? weight : 0;
  const equal = op === '==' || op === '<=' || op === '>=' ? weight : 0;
  const greater = op === '>' || op === '>=' || op === '!=' ? weight : 0;
  let known = false;
  for (let e = 0; e < count; e++) {
    const i = list[e] ?? 0;
    const value = values[i] ?? Number.NaN;
    if (!Number.isNaN(value)) known = true;
    const gain =
      smaller * Number(value < reference) + equal * Number(value === reference) + greater * Number(value > reference);
    totals[i] = (totals[i] ?? 0) + gain;
  }
  return known;
}

function addExtreme(
  fleet: Fleet,
  { state: mode, key }: Extract<ResolvedTerm, { state: 'least' | 'most' }>,
  weight: number,
  group: Group,
  gate: Gate | null,
): TermContext {
  const column = fleet.column(key);
  const numbers = column === null ? null : column.kind === 'number' ? column.values : numbersOf(fleet, column);
  const { low, high } = numbers === null ? NOTHING : extremes(numbers, group);
  if (numbers === null || low > high) return { mode: 'off', gate, note: `no eligible worker has ${key} as a number` };
  addShares(numbers, fleet.scratch.totals, group, low, high, weight, mode === 'least');
  const note = low === high ? 'all known values are equal: each gets half the weight' : null;
  return { mode, gate, key, low, high, note };
}

const NOTHING = { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY };

function extremes(numbers: Float64Array, { list, count, dense }: Group): { low: number; high: number } {
  let { low, high } = NOTHING;
  if (dense) {
    for (let i = 0; i < count; i++) {
      const value = numbers[i] ?? Number.NaN;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return { low, high };
  }
  for (let e = 0; e < count; e++) {
    const value = numbers[list[e] ?? 0] ?? Number.NaN;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { low, high };
}

/** The sums of `normalise`, in loops without a branch where the range and the group allow it. */
function addShares(
  numbers: Float64Array,
  totals: Float64Array,
  group: Group,
  low: number,
  high: number,
  weight: number,
  least: boolean,
): void {
  const { list, count, dense } = group;
  const range = high - low;
  if (!(range > 0 && range < Number.POSITIVE_INFINITY)) {
    addOddShares(numbers, totals, group, low, high, weight, least);
  } else if (dense && least) {
    for (let i = 0; i < count; i++) {
      const value = numbers[i] ?? Number.NaN;
      if (value >= low) totals[i] = (totals[i] ?? 0) + (1 - (value - low) / range) * weight;
    }
  } else if (dense) {
    for (let i = 0; i < count; i++) {
      const value = numbers[i] ?? Number.NaN;
      if (value >= low) totals[i] = (totals[i] ?? 0) + ((value - low) / range) * weight;
    }
  } else {
    for (let e = 0; e < count; e++) {
      const i = list[e] ?? 0;
      const value = numbers[i] ?? Number.NaN;
      // NaN, a missing value, fails this too.
      if (!(value >= low)) continue;
      const share = (value - low) / range;
      totals[i] = (totals[i] ?? 0) + (least ? 1 - share : share) * weight;
    }
  }
}

/** All values equal, or so far apart that their difference is no double. */
function addOddShares(
  numbers: Float64Array,
  totals: Float64Array,
  { list, count }: Group,
  low: number,
  high: number,
  weight: number,
  least: boolean,
): void {
  for (let e = 0; e < count; e++) {
    const i = list[e] ?? 0;
    const value = numbers[i] ?? Number.NaN;
    if (value >= low) totals[i] = (totals[i] ?? 0) + normalise(value, low, high, least) * weight;
  }
}

/** A text column read as numbers, by position. */
function numbersOf(fleet: Fleet, column: TextColumn): Float64Array {
  const { numbers } = fleet.scratch;
  for (let i = 0; i < fleet.size; i++) {
    const code = column.codes[i] ?? -1;
    numbers[i] = code < 0 ? Number.NaN : (column.numbers[code] ?? Number.NaN);
  }
  return numbers;
}
