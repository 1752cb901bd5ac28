import type { ExitCode } from '../exit-codes.ts';
import { runProgram } from '../program.ts';
import { testIo } from './test-io.ts';

/** One command line in this process: what it printed, and how it ended. */
export interface Ran {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line; `url`: where its server is. */
export async function runCommand(
  args: readonly string[],
  options: Parameters<typeof testIo>[0] & { readonly url?: string; readonly token?: string } = {},
): Promise<Ran> {
  const { url, token = 't', ...rest } = options;
  const server: Record<string, string> = url === undefined ? {} : { MUSTER_SERVER: url, MUSTER_TOKEN: token };
  const io = testIo({ ...rest, env: { ...server, ...rest.env } });
  const code = await runProgram(args, io);
  return { code, out: io.stdout.join('\n'), err: io.stderr.join('\n') };
}
