import { Argument } from 'commander';
import { examples, type Setup } from './options.ts';

export function addCompletion({ program, io }: Setup): void {
  program
    .command('completion')
    .description('Print a completion script for a shell.')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      examples([
        'source <(muster completion bash)',
        'muster completion zsh > ~/.zfunc/_muster',
        'muster completion fish > ~/.config/fish/completions/muster.fish',
      ]),
    )
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('../completion/completion-script.ts');
      io.out(completionScript(program, shell));
    });
}
