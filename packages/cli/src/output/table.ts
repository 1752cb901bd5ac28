import Table from 'cli-table3';
import type { Style } from './style.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** Rows under titles, in columns as wide as their content, without borders. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[], style: Style): string {
  const table = new Table({
    head: columns.map((column) => style.dim(column.title)),
    colAligns: columns.map((column) => column.align ?? 'left'),
    chars: noBorders,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  table.push(...rows.map((row) => [...row]));
  return trimLines(table.toString());
}

/** `name  value` lines; rows without a value are left out. */
export function renderFields(fields: readonly (readonly [string, string | null | undefined])[], style: Style): string {
  const shown = fields.filter(
    (field): field is readonly [string, string] => field[1] !== null && field[1] !== undefined && field[1] !== '',
  );
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown
    .map(([name, value]) => {
      const [first, ...rest] = value.split('\n');
      const indent = ' '.repeat(width + 2);
      return [`${style.dim(name.padEnd(width))}  ${first ?? ''}`, ...rest.map((line) => indent + line)].join('\n');
    })
    .join('\n');
}

function trimLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
