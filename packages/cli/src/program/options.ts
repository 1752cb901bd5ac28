import type { Command } from 'commander';
import type { CommandContext } from '../commands/context.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import type { ConnectionFlags } from '../settings/connection.ts';

/** The options of every command that asks the server. */
export type QueryFlags = ConnectionFlags & { readonly json?: boolean };

/** What the parts of the command line are built with. */
export interface Setup {
  readonly program: Command;
  readonly io: Io;
  /** Says how the command ended, where that is not 0. */
  readonly exit: (code: ExitCode) => void;
  /** Runs a command with a connection to the server. */
  readonly ask: (flags: QueryFlags, run: (context: CommandContext) => Promise<void>) => Promise<void>;
}

/** `--server` and `--token`. */
export function withConnection(command: Command): Command {
  return command
    .option('--server <url>', 'where the server is (MUSTER_SERVER, else http://127.0.0.1:4000)')
    .option('--token <token>', 'bearer token (MUSTER_TOKEN, else the one in ./.muster)');
}

/** `--server`, `--token` and `--json`. */
export function withQuery(command: Command): Command {
  return withConnection(command).option('--json', 'print JSON');
}

/** The options of both kinds of runs. */
export function withRun(command: Command): Command {
  return withQuery(command)
    .option('-r, --routing-input <key=value>', 'matched at dispatch, never delivered; a text; may be repeated', collect)
    .option('--require-worker <name>', 'run there or wait')
    .option('--prefer-worker <name>', 'run there if it can')
    .option('--park-ttl <seconds>', 'fail when nobody could take it for so long; 0: never')
    .option('--priority <n>', '-1000 to 1000, higher first')
    .option('--idempotency-key <key>', 'the same key and input give the same execution')
    .option('--wait [seconds]', 'wait for the end (60 s), print it, exit 1 unless it completed')
    .option('--follow', 'print its events until it ends, exit 1 unless it completed');
}

/** For options that may be repeated. */
export function collect(value: string, all: string[] = []): string[] {
  return [...all, value];
}

/** The part of a help text that shows how the command is used. */
export function examples(lines: readonly string[], more: readonly string[] = []): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`), ...more].join('\n');
}
