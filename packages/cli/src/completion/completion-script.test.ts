import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../testing/run-command.ts';

let script: string;
let dir: string;
beforeAll(async () => {
  script = (await runCommand(['completion', 'bash'])).out;
  dir = mkdtempSync(join(tmpdir(), 'muster-completion-'));
  writeFileSync(join(dir, 'flows.ts'), '');
});
afterAll(() => rmSync(dir, { recursive: true }));

/** What bash offers for a command line; the last word is being typed. */
function complete(line: string): string[] {
  const words = line.split(' ');
  const ask = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _muster; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', ask], { cwd: dir, encoding: 'utf8' });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout.split('\n').filter((word) => word !== '');
}

describe('bash', () => {
  test.each([
    ['muster wor', ['worker', 'workflow']],
    ['muster worker ', ['start', 'list', 'show', 'cordon', 'uncordon', 'drain', 'remove', 'metadata']],
    ['muster worker metadata u', ['unset']],
    ['muster --version worker l', ['list']],
    ['muster workflow run demo/chat --fol', ['--follow']],
    ['muster execution events ex_1 --f', ['--follow']],
    ['muster completion ', ['bash', 'zsh', 'fish']],
    ['muster worker start fl', ['flows.ts']],
    ['muster policy check --stage fl', ['flows.ts']],
    ['muster worker show w', []],
  ])('%s', (line, offered) => {
    expect(complete(line)).toEqual(offered);
  });

  test('every command offers its own options', () => {
    expect(complete('muster deployment set-weights a=1 --')).toEqual(
      expect.arrayContaining(['--server', '--token', '--json', '--comment', '--expected-revision', '--help']),
    );
  });
});

test.each([
  ['zsh', ['#compdef muster', "'muster worker metadata set')", "'--routing-input:"]],
  [
    'fish',
    [
      "-n '_muster_at muster worker metadata' -f -a 'set'",
      '-l routing-input -s r -r',
      "complete -c muster -n '_muster_at muster worker start' -F",
    ],
  ],
] as const)('%s', async (shell, parts) => {
  const { code, out } = await runCommand(['completion', shell]);
  expect(code).toBe(0);
  for (const part of parts) expect(out).toContain(part);
});

test('another shell is a usage error', async () => {
  expect(await runCommand(['completion', 'tcsh'])).toMatchObject({ code: 2, out: '' });
});
