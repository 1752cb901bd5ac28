import type { PrincipalCreateFlags, PrincipalListFlags, PrincipalUpdateFlags } from '../commands/principal-commands.ts';
import type { RoleContentFlags } from '../commands/role-commands.ts';
import type { TokenCreateFlags, TokenListFlags } from '../commands/token-commands.ts';
import { collect, examples, type QueryFlags, type Setup, withQuery } from './options.ts';

/** Who may enter, and do what. */
export function addAccess(setup: Setup): void {
  addAdmin(setup);
  addPrincipal(setup);
  addRole(setup);
  addToken(setup);
  addSession(setup);
}

function addAdmin({ program, io, exit }: Setup): void {
  program
    .command('admin')
    .description('The installation itself.')
    .command('reset')
    .description(
      'Make a new token for admin and end every other way in that admin has. On the machine that has the data directory (stop the server first), or with DATABASE_URL.',
    )
    .option('--data-dir <dir>', 'where the embedded database lives (MUSTER_DATA_DIR, else ./.muster)')
    .option('--json', 'print JSON')
    .addHelpText('after', examples(['muster admin reset', 'DATABASE_URL=postgres://… muster admin reset']))
    .action(async (flags: { dataDir?: string; json?: boolean }) => {
      const { resetAdmin } = await import('../serve/reset-admin.ts');
      exit(await resetAdmin(io, flags));
    });
}

function addPrincipal({ program, ask }: Setup): void {
  const principal = program.command('principal').description('People and service accounts.');
  withQuery(principal.command('list'))
    .description('Principals with their roles.')
    .option('--search <text>', 'part of the name')
    .option('--role <role>', 'only those that have it')
    .option('--disabled', 'only those that are disabled')
    .addHelpText('after', examples(['muster principal list --role operator']))
    .action(async (flags: QueryFlags & PrincipalListFlags) => {
      const { principalList } = await import('../commands/principal-commands.ts');
      await ask(flags, (context) => principalList(context, flags));
    });
  withQuery(principal.command('show'))
    .description('One principal: what it may, its tokens and sessions.')
    .argument('<name>')
    .addHelpText('after', examples(['muster principal show anna']))
    .action(async (name: string, flags: QueryFlags) => {
      const { principalShow } = await import('../commands/principal-commands.ts');
      await ask(flags, (context) => principalShow(context, name));
    });
  withQuery(principal.command('create'))
    .description('Make a person, or a service account.')
    .argument('<name>')
    .option('--service', 'an account of a program: it has tokens and no password')
    .option('-r, --role <role>', 'admin, operator, viewer or one of your own; may be repeated', collect)
    .option('--password <text>', '12 to 128 characters; @file, or - for stdin')
    .addHelpText(
      'after',
      examples([
        'muster principal create anna -r operator --password -',
        'muster principal create ci --service -r viewer',
      ]),
    )
    .action(async (name: string, flags: QueryFlags & PrincipalCreateFlags) => {
      const { principalCreate } = await import('../commands/principal-commands.ts');
      await ask(flags, (context) => principalCreate(context, name, flags));
    });
  withQuery(principal.command('update'))
    .description('Give it other roles in the place of those that it has.')
    .argument('<name>')
    .option('-r, --role <role>', 'may be repeated', collect)
    .option('--expected-revision <n>', 'refuse where it was changed meanwhile')
    .addHelpText('after', examples(['muster principal update anna -r operator -r deployers']))
    .action(async (name: string, flags: QueryFlags & PrincipalUpdateFlags) => {
      const { principalUpdate } = await import('../commands/principal-commands.ts');
      await ask(flags, (context) => principalUpdate(context, name, flags));
    });
  for (const verb of ['enable', 'disable'] as const) {
    withQuery(principal.command(verb))
      .description(verb === 'enable' ? 'Let it in again.' : 'Let it in by nothing any more; what it has open ends.')
      .argument('<name>')
      .addHelpText('after', examples([`muster principal ${verb} anna`]))
      .action(async (name: string, flags: QueryFlags) => {
        const { principalDisable } = await import('../commands/principal-commands.ts');
        await ask(flags, (context) => principalDisable(context, name, verb === 'disable'));
      });
  }
  withQuery(principal.command('delete'))
    .description('Delete it, with its tokens and sessions.')
    .argument('<name>')
    .addHelpText('after', examples(['muster principal delete anna']))
    .action(async (name: string, flags: QueryFlags) => {
      const { principalDelete } = await import('../commands/principal-commands.ts');
      await ask(flags, (context) => principalDelete(context, name));
    });
  withQuery(principal.command('password'))
    .description('Give a person a password; his sessions end.')
    .argument('<name>')
    .argument('<password>', '12 to 128 characters; @file, or - for stdin')
    .addHelpText('after', examples(['muster principal password anna -']))
    .action(async (name: string, password: string, flags: QueryFlags) => {
      const { principalPassword } = await import('../commands/principal-commands.ts');
      await ask(flags, (context) => principalPassword(context, name, password));
    });
}

function addRole({ program, ask }: Setup): void {
  const role = program.command('role').description('What principals may: the built-in roles, and your own.');
  withQuery(role.command('list'))
    .description('Roles with their permissions.')
    .addHelpText('after', examples(['muster role list']))
    .action(async (flags: QueryFlags) => {
      const { roleList } = await import('../commands/role-commands.ts');
      await ask(flags, (context) => roleList(context));
    });
  withQuery(role.command('show'))
    .description('One role.')
    .argument('<name>')
    .addHelpText('after', examples(['muster role show operator']))
    .action(async (name: string, flags: QueryFlags) => {
      const { roleShow } = await import('../commands/role-commands.ts');
      await ask(flags, (context) => roleShow(context, name));
    });
  for (const verb of ['create', 'update'] as const) {
    const command = withQuery(role.command(verb))
      .description(verb === 'create' ? 'Make a role.' : 'Give it other permissions in the place of those that it has.')
      .argument('<name>')
      .option('-p, --permission <permission>', 'e.g. deployment:chat:write; * for any part; may be repeated', collect)
      .option('--description <text>', 'what it is for');
    if (verb === 'update') command.option('--expected-revision <n>', 'refuse where it was changed meanwhile');
    command
      .addHelpText('after', examples([`muster role ${verb} deployers -p 'deployment:*:write' -p 'deployment:*:read'`]))
      .action(async (name: string, flags: QueryFlags & RoleContentFlags) => {
        const { roleCreate, roleUpdate } = await import('../commands/role-commands.ts');
        await ask(flags, (context) => (verb === 'create' ? roleCreate : roleUpdate)(context, name, flags));
      });
  }
  withQuery(role.command('delete'))
    .description('Delete a role that nobody has.')
    .argument('<name>')
    .addHelpText('after', examples(['muster role delete deployers']))
    .action(async (name: string, flags: QueryFlags) => {
      const { roleDelete } = await import('../commands/role-commands.ts');
      await ask(flags, (context) => roleDelete(context, name));
    });
}

function addToken({ program, ask }: Setup): void {
  const token = program.command('token').description("API tokens: one's own, and those of others.");
  withQuery(token.command('list'))
    .description('Tokens, newest first; never their secrets.')
    .option('--for <principal>', 'only those of this principal')
    .option('--status <status>', 'active, expired or revoked')
    .addHelpText('after', examples(['muster token list --for ci --status active']))
    .action(async (flags: QueryFlags & TokenListFlags) => {
      const { tokenList } = await import('../commands/token-commands.ts');
      await ask(flags, (context) => tokenList(context, flags));
    });
  withQuery(token.command('create'))
    .description('Make a token and print its secret, this once.')
    .argument('<name>', 'what it is for')
    .option('--for <principal>', "absent: one's own")
    .option(
      '-s, --scope <permission>',
      'narrow it to this; may be repeated; absent: all that the principal may',
      collect,
    )
    .option('--ttl <duration>', 'how long it lives: 90d; absent: until it is revoked')
    .addHelpText('after', examples([`muster token create deploy --for ci --ttl 90d -s 'deployment:*:write'`]))
    .action(async (name: string, flags: QueryFlags & TokenCreateFlags) => {
      const { tokenCreate } = await import('../commands/token-commands.ts');
      await ask(flags, (context) => tokenCreate(context, name, flags));
    });
  withQuery(token.command('revoke'))
    .description('End a token, and what was opened with it.')
    .argument('<id>', 'tk_…')
    .addHelpText('after', examples(['muster token revoke tk_7']))
    .action(async (id: string, flags: QueryFlags) => {
      const { tokenRevoke } = await import('../commands/token-commands.ts');
      await ask(flags, (context) => tokenRevoke(context, id));
    });
}

function addSession({ program, ask }: Setup): void {
  const session = program.command('session').description('Browsers that somebody is logged in with.');
  withQuery(session.command('list'))
    .description('Sessions, newest first.')
    .option('--of <principal>', 'only those of this principal')
    .addHelpText('after', examples(['muster session list --of anna']))
    .action(async (flags: QueryFlags & { of?: string }) => {
      const { sessionList } = await import('../commands/token-commands.ts');
      await ask(flags, (context) => sessionList(context, flags));
    });
  withQuery(session.command('revoke'))
    .description('End one session, or all of a principal.')
    .argument('[id]', 'se_…')
    .option('--of <principal>', 'all of this principal')
    .addHelpText('after', examples(['muster session revoke se_0193…', 'muster session revoke --of anna']))
    .action(async (id: string | undefined, flags: QueryFlags & { of?: string }) => {
      const { sessionRevoke } = await import('../commands/token-commands.ts');
      await ask(flags, (context) => sessionRevoke(context, id, flags));
    });
}
