import type { ServeFlags } from '../serve/serve.ts';
import { examples, type Setup } from './options.ts';

export function addServe({ program, io, exit }: Setup): void {
  program
    .command('serve')
    .description('Run the server: API, admin and dispatcher. With an empty database also a small demo.')
    .option('--port <port>', 'port to listen on; 0: any free one (PORT, else 4000)')
    .option('--host <host>', 'address to listen on (HOST, else 127.0.0.1)')
    .option('--data-dir <dir>', 'where the embedded database lives (MUSTER_DATA_DIR, else ./.muster)')
    .option('--role <role>', 'all: may lead and dispatch; api: never leads', 'all')
    .option('--workflows <file...>', 'files whose workflows this process runs itself')
    .option('--demo', 'bring up the demo, whatever the database holds')
    .option('--no-demo', 'bring up no demo')
    .option('--no-worker', 'run no worker inside this process')
    .option('--json', 'print where it is as JSON')
    .addHelpText(
      'after',
      examples([
        'muster serve',
        'muster serve --port 8080 --no-demo --workflows flows.ts',
        'DATABASE_URL=postgres://… muster serve',
      ]),
    )
    .action(async (flags: ServeFlags) => {
      const { serve } = await import('../serve/serve.ts');
      exit(await serve(io, flags));
    });
}
