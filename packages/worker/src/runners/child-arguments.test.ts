import { expect, test } from 'vitest';
import { childEnvironment, childFlags } from './child-arguments.ts';

test('a child reads modules as its worker does, with a heap of its own size', () => {
  const own = [
    '--import',
    'file:///tsx/loader.mjs',
    '--inspect',
    '--require=./setup.cjs',
    '-C',
    'development',
    '--max-old-space-size=64',
    '--input-type=module',
    '--eval',
    'text',
  ];
  expect(childFlags('/a/runner-child.mjs', 300, own)).toEqual([
    '--import',
    'file:///tsx/loader.mjs',
    '--require=./setup.cjs',
    '-C',
    'development',
    '--max-old-space-size=300',
  ]);
});

test('a program that was bundled needs nothing to read TypeScript', () => {
  expect(childFlags('/a/runner-child.mjs', 300, [])).toEqual(['--max-old-space-size=300']);
});

test('the tokens are kept from a child by name and by value', () => {
  const own = {
    PATH: '/bin',
    MUSTER_TOKEN: 'a',
    MUSTER_ADMIN_TOKEN: 'b',
    MUSTER_JOIN_TOKEN: 'c',
    JOIN: 'another-secret',
    CI: 'x',
    URL: 'http://h/?t=longer-secret',
    T: 'longer-secret',
  };
  expect(childEnvironment(own, ['longer-secret', 'another-secret'])).toEqual({ PATH: '/bin', CI: 'x' });
});

test('a short token is looked for as a whole value only', () => {
  expect(childEnvironment({ PATH: '/bin', ONE: 'b' }, ['b'])).toEqual({ PATH: '/bin' });
});

test('without a token only the names count', () => {
  expect(childEnvironment({ PATH: '/bin', MUSTER_TOKEN: 'a' }, [])).toEqual({ PATH: '/bin' });
});
