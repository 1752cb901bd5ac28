import type { Io } from '../io.ts';

export interface TestIo extends Io {
  readonly stdout: string[];
  readonly stderr: string[];
}

/** A process that remembers what was printed; no colours, no environment unless given. */
export function testIo(
  options: { env?: Record<string, string>; cwd?: string; stdin?: string; columns?: number } = {},
): TestIo {
  const stdout: string[] = [];
  const stderr: string[] = [];
  return {
    stdout,
    stderr,
    out: (text) => stdout.push(text),
    err: (text) => stderr.push(text),
    env: options.env ?? {},
    cwd: options.cwd ?? '/nonexistent',
    colour: false,
    columns: options.columns ?? 100,
    readStdin: () => Promise.resolve(options.stdin ?? ''),
  };
}
