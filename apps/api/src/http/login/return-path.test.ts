import { describe, expect, it } from 'vitest';
import { returnPath } from './return-path.ts';

describe('where a login leads to', () => {
  it.each([
    ['/', '/'],
    ['/workers/w-7?tab=executions&q=a%2Fb', '/workers/w-7?tab=executions&q=a%2Fb'],
    ['/deployments/gr%C3%BC%C3%9F', '/deployments/gr%C3%BC%C3%9F'],
    ['/a/../workers', '/workers'],
  ])('a path of this server: %s', (wanted, path) => expect(returnPath(wanted)).toBe(path));

  it.each([
    null,
    '',
    'workers',
    'https://evil.example/',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n//evil.example',
    ' //evil.example',
    '/x/..//evil.example',
    '/.//evil.example',
    '/%2e//evil.example',
    '/a\\..\\\\evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '/login/oidc',
    '/x/../login/oidc/callback?code=1',
    '/session',
    `/${'a'.repeat(3_000)}`,
  ])('nothing else: %j', (wanted) => expect(returnPath(wanted)).toBe('/'));
});
