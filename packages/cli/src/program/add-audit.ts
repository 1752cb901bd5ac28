import type { Command } from 'commander';
import type { AuditExportFlags, AuditFilterFlags } from '../commands/audit-commands.ts';
import type { VerifyFlags } from '../commands/audit-verify.ts';
import { collect, examples, type QueryFlags, type Setup, withQuery } from './options.ts';

export function addAudit({ program, io, exit, ask }: Setup): void {
  const audit = program.command('audit').description('Who changed what, when and from where.');
  withFilter(withQuery(audit.command('list')))
    .description('Entries, newest first.')
    .option('--limit <n>', '1 to 2000 (100)')
    .addHelpText(
      'after',
      examples(['muster audit list --action deployment.', 'muster audit list --target worker:w-7 --json']),
    )
    .action(async (flags: QueryFlags & AuditFilterFlags & { limit?: string }) => {
      const { auditList } = await import('../commands/audit-commands.ts');
      await ask(flags, (context) => auditList(context, flags));
    });
  withFilter(withQuery(audit.command('export')))
    .description('All entries that fit, oldest first, as JSON lines or CSV.')
    .option('--format <format>', 'jsonl or csv', 'jsonl')
    .option('-o, --output <file>', 'absent: stdout')
    .addHelpText('after', examples(['muster audit export --format csv --after 2027-01-01T00:00:00Z -o january.csv']))
    .action(async (flags: QueryFlags & AuditExportFlags) => {
      const { auditExport } = await import('../commands/audit-commands.ts');
      await ask(flags, (context) => auditExport(context, flags));
    });
  withQuery(audit.command('verify'))
    .description(
      'Follow the chain of hashes: exit 1, and which entry, where one was changed, moved, put in or taken out.',
    )
    .option('--known <position:hash>', 'what an earlier verification printed as its end; may be repeated', collect)
    .option(
      '--offline',
      'read the database by oneself: DATABASE_URL, or the data directory of a server that does not run',
    )
    .option('--data-dir <dir>', 'with --offline (MUSTER_DATA_DIR, else ./.muster)')
    .addHelpText('after', examples(['muster audit verify', 'muster audit verify --offline --known 812:9f86d0…']))
    .action(async (flags: QueryFlags & VerifyFlags & { offline?: boolean; dataDir?: string }) => {
      if (flags.offline === true) {
        const { auditVerifyOffline } = await import('../serve/audit-offline.ts');
        exit(await auditVerifyOffline(io, flags));
        return;
      }
      const { auditVerify } = await import('../commands/audit-verify.ts');
      await ask(flags, async (context) => exit(await auditVerify(context, flags)));
    });
}

function withFilter(command: Command): Command {
  return command
    .option('--actor <name>', 'what this principal did')
    .option('--action <prefix>', 'what actions begin with: deployment., worker.cordon')
    .option('--target <kind:name>', 'what was done to it: worker:w-7')
    .option('--after <time>', 'from then on: 2027-01-31T09:00:00Z')
    .option('--before <time>', 'until before then');
}
