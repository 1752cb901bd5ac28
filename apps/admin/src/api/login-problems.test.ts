import { describe, expect, it } from 'vitest';
import { loginProblemIn } from './login-problems.ts';

describe('the problem of a login in an address', () => {
  it('is a sentence of ours, whatever the address says', () => {
    expect(loginProblemIn('#login-problem=no-role')).toMatch(/gives you no role here/);
    expect(loginProblemIn('#login-problem=constructor')).toBe('The login came to nothing. Try again.');
  });

  it('is not taken from other fragments', () => {
    for (const hash of ['', '#login=abc', '#login-problem=', '#login-problem=<b>x</b>', '#x#login-problem=denied'])
      expect(loginProblemIn(hash)).toBeNull();
  });
});
