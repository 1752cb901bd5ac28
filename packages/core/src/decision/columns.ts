import { readNumber, scoreCompare, type WorkerValue } from '../policy/values.ts';
import type { ComparisonOperator } from '../policy/spec.ts';

/** Numbers of all workers under one selector; NaN = no value. */
export interface NumberColumn {
  readonly kind: 'number';
  readonly values: Float64Array;
}

/** Texts of all workers under one selector, as positions in the list of distinct ones; -1 = no value. */
export interface TextColumn {
  readonly kind: 'text';
  readonly codes: Int32Array;
  readonly distinct: (string | number)[];
  /** The distinct values read as numbers; NaN = not a number. */
  readonly numbers: number[];
  /** Position by value; texts and numbers apart. */
  readonly positions: Map<string | number, number>;
  readonly verdicts: Map<string, Uint8Array>;
}

export type Column = NumberColumn | TextColumn;

const VERDICTS_MAX = 64;

export function textColumn(size: number): TextColumn {
  return {
    kind: 'text',
    codes: new Int32Array(size).fill(-1),
    distinct: [],
    numbers: [],
    positions: new Map(),
    verdicts: new Map(),
  };
}

/** One worker's value, as it was written. */
export function columnValue(column: Column, index: number): WorkerValue {
  if (column.kind === 'text') {
    const code = column.codes[index] ?? -1;
    return code < 0 ? undefined : column.distinct[code];
  }
  const value = column.values[index];
  return value === undefined || Number.isNaN(value) ? undefined : value;
}

/** Writes one worker's value. Distinct values only grow; the fleet rebuilds a column that has grown far beyond its size. */
export function setColumnValue(column: Column, index: number, value: WorkerValue): void {
  if (column.kind === 'number') {
    column.values[index] = typeof value === 'number' ? value : Number.NaN;
    return;
  }
  if (value === undefined) {
    column.codes[index] = -1;
    return;
  }
  let position = column.positions.get(value);
  if (position === undefined) {
    position = column.distinct.length;
    column.distinct.push(value);
    column.numbers.push(readNumber(value) ?? Number.NaN);
    column.positions.set(value, position);
    column.verdicts.clear();
  }
  column.codes[index] = position;
}

/** One verdict per distinct value, by `judge`; kept under `name` until the distinct values change. */
export function verdictsOf(column: TextColumn, name: string, judge: (value: string | number) => boolean): Uint8Array {
  const known = column.verdicts.get(name);
  if (known !== undefined) return known;
  const verdicts = Uint8Array.from(column.distinct, (value) => (judge(value) ? 1 : 0));
  if (column.verdicts.size >= VERDICTS_MAX) column.verdicts.clear();
  column.verdicts.set(name, verdicts);
  return verdicts;
}

/** `scoreCompare` of every distinct value. */
export function comparisonVerdicts(
  column: TextColumn,
  op: ComparisonOperator,
  reference: string | number | boolean,
): Uint8Array {
  return verdictsOf(column, `${op} ${typeof reference} ${String(reference)}`, (value) =>
    scoreCompare(value, op, reference),
  );
}
