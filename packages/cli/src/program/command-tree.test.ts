import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '../program.ts';
import { commandReference } from '../testing/command-reference.ts';
import { runCommand } from '../testing/run-command.ts';
import { testIo } from '../testing/test-io.ts';

const program = buildProgram(testIo(), () => undefined);

function leavesOf(command: Command, path: readonly string[]): { path: string[]; command: Command }[] {
  const children = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');
  if (children.length === 0) return [{ path: [...path], command }];
  return children.flatMap((one) => leavesOf(one, [...path, one.name()]));
}
const leaves = leavesOf(program, []);

test('there are the commands that there should be', () => {
  expect(leaves.map(({ path }) => path.join(' '))).toEqual(
    expect.arrayContaining([
      'serve',
      'worker start',
      'worker list',
      'worker show',
      'worker cordon',
      'worker uncordon',
      'worker drain',
      'worker remove',
      'worker metadata show',
      'worker metadata set',
      'worker metadata unset',
      'worker metadata clear',
      'join-token create',
      'join-token list',
      'join-token revoke',
      'join-token purge',
      'workflow list',
      'workflow show',
      'workflow versions',
      'workflow register',
      'workflow run',
      'deployment list',
      'deployment show',
      'deployment resolve',
      'deployment run',
      'deployment create',
      'deployment set-weights',
      'deployment history',
      'deployment rollback',
      'execution list',
      'execution show',
      'execution events',
      'execution cancel',
      'execution resume',
      'execution retry',
      'admin reset',
      'principal list',
      'principal show',
      'principal create',
      'principal update',
      'principal enable',
      'principal disable',
      'principal delete',
      'principal password',
      'role list',
      'role show',
      'role create',
      'role update',
      'role delete',
      'token list',
      'token create',
      'token revoke',
      'session list',
      'session revoke',
      'audit list',
      'audit export',
      'audit verify',
      'schedule list',
      'schedule show',
      'schedule next',
      'schedule create',
      'schedule update',
      'schedule delete',
      'schedule pause',
      'schedule resume',
      'schedule run',
      'why',
      'policy check',
      'policy preview',
      'completion',
    ]),
  );
});

describe.each(leaves)('muster $path', ({ path, command }) => {
  test('has help with examples that are commands of it', async () => {
    const { code, out } = await runCommand([...path, '--help']);
    expect(code).toBe(0);
    const examples =
      out
        .split('Examples:\n')[1]
        ?.split('\n')
        .filter((line) => line.startsWith('  ')) ?? [];
    expect(examples.length).toBeGreaterThan(0);
    for (const line of examples) expect(line).toContain(`muster ${path.join(' ')}`);
    expect(command.description()).toMatch(/\.(?:$|\))/);
  });

  test('takes --json, and --server and --token where it asks a server', () => {
    const flags = command.options.map((option) => option.long);
    if (path[0] === 'completion') return;
    expect(flags).toContain('--json');
    const alone = path[0] === 'serve' || path[0] === 'admin' || path.join(' ') === 'policy check';
    expect(flags.includes('--server')).toBe(!alone);
    expect(flags.includes('--token')).toBe(!alone);
  });

  test('says what is unknown and where help is', async () => {
    const { code, err, out } = await runCommand([...path, '--frob']);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain("unknown option '--frob'");
    expect(err).toContain('--help');
  });
});

test('docs/cli.md is what the help texts say', async () => {
  await expect(commandReference()).toMatchFileSnapshot('../../../../docs/cli.md');
});
