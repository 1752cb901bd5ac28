import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import type { Style } from './style.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Never broken over lines: ids, names and numbers, which people copy. */
  readonly whole?: boolean;
}

const gap = '  ';
/** A column of text is not made narrower than its longest word, or this. */
const narrowest = 20;

/** Columns with these titles, all of them to the left. */
export function titled(titles: readonly string[], whole: readonly string[] = []): Column[] {
  return titles.map((title) => ({ title, whole: whole.includes(title) }));
}

/**
 * Rows under titles, in columns as wide as their content, without borders. Where that is more than the terminal has, the
 * widest columns of text are broken at words; where even that does not fit, each row becomes a block of its own. Widths are
 * those that terminals give to wide characters. Nothing is ever cut off.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[], style: Style): string {
  const widths = fittingWidths(columns, rows, style.columns);
  if (widths === null) return renderBlocks(columns, rows, style);
  const head = columns.map(({ title }) => style.dim(title));
  return [head, ...rows].map((row) => renderRow(row, columns, widths)).join('\n');
}

/** `name  value` lines, values broken at words where the terminal ends; rows without a value are left out. */
export function renderFields(fields: readonly (readonly [string, string | null | undefined])[], style: Style): string {
  const shown = fields.filter(
    (field): field is readonly [string, string] => field[1] !== null && field[1] !== undefined && field[1] !== '',
  );
  const width = Math.max(0, ...shown.map(([name]) => stringWidth(name)));
  const room = Math.max(1, style.columns - width - gap.length);
  return shown
    .map(([name, value]) => {
      const [first, ...rest] = wrapped(value, room);
      const indent = ' '.repeat(width) + gap;
      return [style.dim(padded(name, width, 'left')) + gap + (first ?? ''), ...rest.map((line) => indent + line)]
        .map((line) => line.trimEnd())
        .join('\n');
    })
    .join('\n');
}

/** A text broken at words where the terminal ends. */
export function renderText(text: string, style: Style): string {
  return wrapped(text, style.columns).join('\n');
}

/** Widths of the columns, or null where the terminal is too narrow for columns. */
function fittingWidths(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  room: number,
): number[] | null {
  const natural = columns.map(({ title }, index) =>
    Math.max(stringWidth(title), ...rows.map((row) => widthOf(row[index]))),
  );
  const gaps = gap.length * Math.max(0, columns.length - 1);
  const total = (widths: readonly number[]): number => gaps + widths.reduce((sum, width) => sum + width, 0);
  if (total(natural) <= room) return natural;
  const least = columns.map((column, index) => {
    const width = natural[index] ?? 0;
    if (column.whole === true || column.align === 'right') return width;
    const words = Math.max(...rows.map((row) => longestWord(row[index])), 0);
    return Math.min(width, Math.max(stringWidth(column.title), Math.min(words, narrowest)));
  });
  if (total(least) > room) return null;
  // The widest columns give first: all of them to the same width, the largest that fits.
  let low = 0;
  let high = Math.max(...natural);
  const level = (most: number): number[] =>
    natural.map((width, index) => Math.min(width, Math.max(least[index] ?? 0, most)));
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if (total(level(middle)) <= room) low = middle;
    else high = middle;
  }
  const widths = level(low);
  // What the common width leaves over goes to the last column that can use it.
  const last = widths.findLastIndex((width, index) => width < (natural[index] ?? 0));
  if (last !== -1) widths[last] = Math.min(natural[last] ?? 0, (widths[last] ?? 0) + room - total(widths));
  return widths;
}

function renderRow(row: readonly string[], columns: readonly Column[], widths: readonly number[]): string {
  const cells = columns.map((_, index) => wrapped(row[index] ?? '', widths[index] ?? 0));
  const height = Math.max(1, ...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((lines, index) => padded(lines[line] ?? '', widths[index] ?? 0, columns[index]?.align ?? 'left'))
      .join(gap)
      .trimEnd(),
  ).join('\n');
}

function renderBlocks(columns: readonly Column[], rows: readonly (readonly string[])[], style: Style): string {
  return rows
    .map((row) =>
      renderFields(
        columns.map(({ title }, index) => [title || '·', row[index]]),
        style,
      ),
    )
    .join('\n\n');
}

function wrapped(text: string, width: number): string[] {
  if (widthOf(text) <= width) return text.split('\n');
  return wrapAnsi(text, Math.max(1, width), { hard: true, trim: false })
    .split('\n')
    .map((line) => line.trimEnd());
}

function padded(text: string, width: number, align: 'left' | 'right'): string {
  const fill = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return align === 'right' ? fill + text : text + fill;
}

function widthOf(text: string | undefined): number {
  return Math.max(0, ...(text ?? '').split('\n').map((line) => stringWidth(line)));
}

function longestWord(text: string | undefined): number {
  return Math.max(0, ...(text ?? '').split(/\s+/).map((word) => stringWidth(word)));
}
