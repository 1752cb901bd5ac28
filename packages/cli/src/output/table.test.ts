import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { styleFor } from './style.ts';
import { type Column, renderFields, renderTable, renderText, titled } from './table.ts';

const columns: Column[] = [
  { title: 'name', whole: true },
  { title: 'load', align: 'right' },
  { title: 'labels' },
  { title: 'because' },
];
const rows = [
  [
    'gpu-worker-eu-central-1',
    '1 of 4',
    'region=eu zone=a gpu=a100',
    'silent for 40 s; the check "disk" fails: no space left',
  ],
  ['工人-七', '12', 'région=東京', ''],
];

const widest = (text: string): number => Math.max(...text.split('\n').map((line) => stringWidth(line)));
const words = (text: string): string[] =>
  text
    .split(/\s+/)
    .filter((word) => word !== '')
    .toSorted();

describe('a table', () => {
  test('has columns as wide as their content where nobody looks at a terminal', () => {
    expect(renderTable(columns, rows, styleFor(false))).toBe(
      [
        'name                       load  labels                     because',
        'gpu-worker-eu-central-1  1 of 4  region=eu zone=a gpu=a100  silent for 40 s; the check "disk" fails: no space left',
        '工人-七                      12  région=東京',
      ].join('\n'),
    );
  });

  test.each([60, 80, 120, 200])('fits %i columns and loses nothing', (room) => {
    const text = renderTable(columns, rows, styleFor(false, room));
    expect(widest(text)).toBeLessThanOrEqual(room);
    for (const word of words(rows.flat().join(' '))) expect(words(text)).toContain(word);
    expect(text).toContain('gpu-worker-eu-central-1');
  });

  test('breaks the widest text first, at words, and keeps names whole', () => {
    expect(renderTable(columns, rows, styleFor(false, 80))).toBe(
      [
        'name                       load  labels                  because',
        'gpu-worker-eu-central-1  1 of 4  region=eu zone=a        silent for 40 s; the',
        '                                 gpu=a100                check "disk" fails: no',
        '                                                         space left',
        '工人-七                      12  région=東京',
      ].join('\n'),
    );
  });

  test('becomes blocks where columns do not fit', () => {
    expect(renderTable(columns, rows, styleFor(false, 40))).toBe(
      [
        'name     gpu-worker-eu-central-1',
        'load     1 of 4',
        'labels   region=eu zone=a gpu=a100',
        'because  silent for 40 s; the check',
        '         "disk" fails: no space left',
        '',
        'name    工人-七',
        'load    12',
        'labels  région=東京',
      ].join('\n'),
    );
  });

  test('colours take no room and survive a break', () => {
    const style = styleFor(true, 24);
    const text = renderTable(
      titled(['state', 'why']),
      [[style.green('HEALTHY'), style.red('all of the checks pass')]],
      style,
    );
    expect(widest(text)).toBeLessThanOrEqual(24);
    expect(text.split('\n').filter((line) => line.includes('\u001B[31m'))).toHaveLength(2);
  });

  test('without rows is its titles', () => {
    expect(renderTable(titled(['a', 'b']), [], styleFor(false, 80))).toBe('a  b');
  });
});

describe('fields', () => {
  test('leave out what has no value and break long values', () => {
    const fields = [
      ['name', 'w-1'],
      ['none', null],
      ['workflows', 'a/one\nb/two'],
      ['because', 'one two three four five six'],
    ] as const;
    expect(renderFields(fields, styleFor(false, 26))).toBe(
      [
        'name       w-1',
        'workflows  a/one',
        '           b/two',
        'because    one two three',
        '           four five six',
      ].join('\n'),
    );
  });

  test('break what has no spaces', () => {
    expect(widest(renderFields([['output', 'x'.repeat(100)]], styleFor(false, 30)))).toBe(30);
  });
});

test('a text breaks at words', () => {
  expect(renderText('one two three', styleFor(false, 8))).toBe('one two\nthree');
});
