import { describe, expect, it } from 'vitest';
import { dialogOf } from './dialog-state.ts';
import { readPermissions } from './permission-text.ts';

describe('readPermissions', () => {
  it('takes one a line, without what is empty', () => {
    expect(readPermissions(' worker:*:read \n\n*\n')).toEqual({ permissions: ['worker:*:read', '*'], problems: [] });
  });

  it('says the line of what is none', () => {
    expect(readPermissions('worker:*:read\n\nworker:w-7:eat\nnothing')).toEqual({
      permissions: ['worker:*:read', 'worker:w-7:eat', 'nothing'],
      problems: [
        { line: 3, message: expect.stringContaining('worker:{name}:read|target|manage|serve') },
        { line: 4, message: expect.stringContaining('"nothing"') },
      ],
    });
  });
});

describe('dialogOf', () => {
  it('reads verb and name, and nothing else', () => {
    expect(dialogOf('edit:ana:b', ['edit'])).toEqual({ verb: 'edit', name: 'ana:b' });
    expect(dialogOf('create', ['create'])).toEqual({ verb: 'create', name: '' });
    expect(dialogOf('drop:ana', ['edit'])).toEqual({ verb: 'none', name: '' });
    expect(dialogOf('', ['edit'])).toEqual({ verb: 'none', name: '' });
  });
});
