import { describe, expect, it } from 'vitest';
import { auditChanges } from './audit-diff.ts';
import { csvOf, EXPORT_FIELDS } from './audit-export.ts';

describe('auditChanges', () => {
  it('names what differs, and nothing else', () => {
    expect(auditChanges({ a: 1, b: { c: 'x', d: [1] } }, { a: 1, b: { c: 'y', d: [1, 2] }, e: true })).toEqual([
      { path: 'b.c', before: 'x', after: 'y' },
      { path: 'b.d', before: '[1]', after: '[1,2]' },
      { path: 'e', before: null, after: 'true' },
    ]);
  });

  it('tells null from what is not there', () => {
    expect(auditChanges({ a: null }, { a: 0 })).toEqual([{ path: 'a', before: 'null', after: '0' }]);
    expect(auditChanges(null, { a: 1 })).toEqual([{ path: 'a', before: null, after: '1' }]);
    expect(auditChanges({ a: 1 }, null)).toEqual([{ path: 'a', before: '1', after: null }]);
    expect(auditChanges('x', 'y')).toEqual([{ path: '', before: 'x', after: 'y' }]);
  });
});

describe('csvOf', () => {
  it('quotes, and lets no spreadsheet take a text for a formula', () => {
    const row = { id: 'au_1', at: 't', actor: '=1+1', action: 'a.b', target: 'x,"y"', before: null, after: { n: 1 } };
    const [head, line] = csvOf([row as never]).split('\r\n');
    expect(head).toBe(EXPORT_FIELDS.join(','));
    expect(line).toBe(`au_1,t,'=1+1,a.b,"x,""y""",,,,"{""n"":1}",`);
  });
});
