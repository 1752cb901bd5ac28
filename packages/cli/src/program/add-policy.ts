import type { PolicyCheckFlags } from '../commands/policy-check.ts';
import type { PreviewFlags } from '../commands/policy-preview.ts';
import { collect, examples, type QueryFlags, type Setup, withQuery } from './options.ts';

export function addPolicy({ program, io, exit, ask }: Setup): void {
  const policy = program
    .command('policy')
    .description('Check routing policies, affinities and requests; try them on the fleet.');
  policy
    .command('check')
    .description(
      'Whether a policy is legal: each problem with line and column; exit 1 where there is one. Needs no server. ' +
        'A .py file is read for the policies of its workflows.',
    )
    .argument('<text|file>', 'score(…), require(…), a label map, ResourceRequest(…), or a file with one; - for stdin')
    .option('--stage <stage>', 'routing, affinity or requests (what the text begins with)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples([
        `muster policy check 'score(least(load()))'`,
        'muster policy check routing.txt',
        'muster policy check flows.py',
      ]),
    )
    .action(async (text: string, flags: PolicyCheckFlags) => {
      const { policyCheck } = await import('../commands/policy-check.ts');
      exit(await policyCheck(io, text, flags));
    });
  withQuery(policy.command('preview'))
    .description('What would be decided now, worker by worker; nothing is stored or dispatched.')
    .option('--workflow <name>', 'the policies of a registered workflow …')
    .option('--routing <text>', '… or these: score(…), or @file')
    .option('--affinity <text>', 'require(…) or a label map, or @file')
    .option('--requests <text>', 'ResourceRequest(…), or @file')
    .option('--runner <name>')
    .option('--target-role <role>', 'only workers of this role; may be repeated', collect)
    .option('--input <json>', 'JSON, @file, or - for stdin')
    .option('-r, --routing-input <key=value>', 'may be repeated', collect)
    .option('--require-worker <name>')
    .option('--prefer-worker <name>')
    .option('--decision <id>', 'score the candidates of this decision again, instead of the live fleet')
    .option('--weight <term=weight>', 'another weight for a term, counted from 1; may be repeated', collect)
    .addHelpText(
      'after',
      examples([
        `muster policy preview --workflow demo/chat --input '{"region": "eu"}'`,
        `muster policy preview --routing 'score(least(load()))' --target-role gpu-worker`,
        'muster policy preview --decision de_0193… --weight 1=20',
      ]),
    )
    .action(async (flags: QueryFlags & PreviewFlags) => {
      const { policyPreview } = await import('../commands/policy-preview.ts');
      await ask(flags, (context) => policyPreview(context, flags));
    });
}
