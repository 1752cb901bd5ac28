import { Option } from 'commander';
import type { JoinTokenCreateFlags, JoinTokenListFlags } from '../commands/join-token-commands.ts';
import { collect, examples, type QueryFlags, type Setup, withQuery } from './options.ts';

export function addJoinToken({ program, ask }: Setup): void {
  const joinToken = program
    .command('join-token')
    .description('Join tokens: each lets one worker in, once, and gives it a credential of its own.');
  withQuery(joinToken.command('create'))
    .description('Make a join token; its secret is printed this once.')
    .option('--worker <name>', 'the one name that it is for (any that no worker has)')
    .option('--role <role>', 'the one role that it is for (any)')
    .option('--label <key=value>', 'all labels of the worker (those that it says itself); may be repeated', collect)
    .option('--service <name>', 'what it is granted to serve: flux.service.<name>; may be repeated', collect)
    .option('--registers <ns:name>', 'workflows that it may register, with * for any; may be repeated', collect)
    .option('--ttl <duration>', 'how long it is good: seconds, or 15m, 2h, 30d (1h)')
    .option('--description <text>', 'for people')
    .addHelpText(
      'after',
      examples([
        'muster join-token create --worker gpu-7 --role gpu --service vllm',
        `muster join-token create --role worker --registers 'ml:*' --ttl 1d`,
      ]),
    )
    .action(async (flags: QueryFlags & JoinTokenCreateFlags) => {
      const { joinTokenCreate } = await import('../commands/join-token-commands.ts');
      await ask(flags, (context) => joinTokenCreate(context, flags));
    });
  withQuery(joinToken.command('list'))
    .description('Join tokens, newest first, without their secrets.')
    .addOption(new Option('--status <status>', 'only these').choices(['active', 'used', 'revoked', 'expired']))
    .option('--worker <name>', 'only those for this worker, or used by it')
    .addHelpText('after', examples(['muster join-token list', 'muster join-token list --status active']))
    .action(async (flags: QueryFlags & JoinTokenListFlags) => {
      const { joinTokenList } = await import('../commands/join-token-commands.ts');
      await ask(flags, (context) => joinTokenList(context, flags));
    });
  withQuery(joinToken.command('revoke'))
    .description('End a join token that was not used.')
    .argument('<id>')
    .addHelpText('after', examples(['muster join-token revoke jt_12']))
    .action(async (id: string, flags: QueryFlags) => {
      const { joinTokenRevoke } = await import('../commands/join-token-commands.ts');
      await ask(flags, (context) => joinTokenRevoke(context, id));
    });
  withQuery(joinToken.command('purge'))
    .description('Forget those that were used or revoked, or have expired.')
    .addHelpText('after', examples(['muster join-token purge']))
    .action(async (flags: QueryFlags) => {
      const { joinTokenPurge } = await import('../commands/join-token-commands.ts');
      await ask(flags, joinTokenPurge);
    });
}
