import { describe, expect, it } from 'vitest';
import { parseMemory, parsePackageRequirement } from './resource-units.ts';

describe('parseMemory', () => {
  it.each([
    [1024, 1024],
    ['1024', 1024],
    ['2.5Gi', 2.5 * 1024 ** 3],
    ['2.5 Gi', 2.5 * 1024 ** 3],
    ['4G', 4 * 1024 ** 3],
    ['0.0001Ki', 0],
    ['1.0009Ki', 1024],
    ['1P', 1024 ** 5],
    ['0Ti', 0],
  ])('reads %s', (value, bytes) => {
    expect(parseMemory(value)).toBe(bytes);
  });

  it.each([
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    ' ',
    '1.5',
    '4GB',
    '4 gb',
    'lots',
    '5.Gi',
    '.5Gi',
    '1e3',
    '-1Gi',
    '1  Gi',
    '1Gi ',
    '٣Gi',
    `${'9'.repeat(400)}Pi`,
    null,
    true,
    5n,
  ])('refuses %s', (value) => {
    expect(parseMemory(value)).toBeNull();
  });
});

describe('parsePackageRequirement', () => {
  it.each([
    ['NumPy', { name: 'numpy', operator: null, version: null }],
    ['scikit_learn==1.0', { name: 'scikit_learn', operator: '==', version: '1.0' }],
    ['zope.interface  >=  1.26.0rc1', { name: 'zope.interface', operator: '>=', version: '1.26.0rc1' }],
  ])('reads %s', (text, wanted) => {
    expect(parsePackageRequirement(text)).toEqual(wanted);
  });

  it.each([
    '',
    'a<1',
    'a~=1',
    'a!=1',
    'a===1',
    'a>=1>=2',
    'a>=',
    '==1',
    'a[extra]',
    'a ; x',
    'a b',
    'a,b',
    '-a',
    'a>=²',
    3,
  ])('refuses %s', (text) => {
    expect(parsePackageRequirement(text)).toBeNull();
  });
});
