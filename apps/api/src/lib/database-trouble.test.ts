import { describe, expect, it } from 'vitest';
import { databaseTrouble } from './database-trouble.ts';

const withCode = (code: string): Error => Object.assign(new Error('x'), { code });

describe('databaseTrouble', () => {
  it.each([
    ['a statement that took too long', withCode('57014')],
    ['a server that shuts down', withCode('57P01')],
    ['a transaction that could not begin', withCode('P2028')],
    ['a refused connection', withCode('ECONNREFUSED')],
    ['too many connections', withCode('53300')],
    ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
    ['one of them wrapped', new Error('a query failed', { cause: withCode('08006') })],
  ])('%s is UNAVAILABLE', (_what, error) => {
    expect(databaseTrouble(error)).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it.each([
    ['a text with NUL', withCode('22021')],
    ['a number that no column holds', withCode('22003')],
    ['one that the driver tells', Object.assign(new Error('x'), { cause: { originalCode: '22021' } })],
    [
      'one that Prisma hands on',
      Object.assign(withCode('P2010'), { meta: { driverAdapterError: { cause: { originalCode: '22P05' } } } }),
    ],
  ])('%s is BAD_INPUT', (_what, error) => {
    expect(databaseTrouble(error)).toMatchObject({ code: 'BAD_INPUT' });
  });

  it.each([
    ['a violated constraint', withCode('23505')],
    ['a value that does not fit', withCode('22P02')],
    ['a broken statement', withCode('42601')],
    ['any bug', new TypeError('x is not a function')],
    ['nothing', undefined],
  ])('%s is not', (_what, error) => {
    expect(databaseTrouble(error)).toBeNull();
  });
});
