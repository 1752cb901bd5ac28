/** What a command sees of the process it runs in; tests bring their own. */
export interface Io {
  /** Results, one call per block; a newline is added. */
  out(text: string): void;
  /** Progress and problems; a newline is added. */
  err(text: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether results may be coloured. */
  readonly colour: boolean;
  /** Columns of the terminal; Infinity where there is none, so that what is piped stays one line a row. */
  readonly columns: number;
  readStdin(): Promise<string>;
}

/** The real process. Colours on a terminal, unless NO_COLOR is set. */
export function processIo(): Io {
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
    env: process.env,
    cwd: process.cwd(),
    colour: process.stdout.isTTY && !process.env['NO_COLOR'],
    columns: process.stdout.columns || Number.POSITIVE_INFINITY,
    readStdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString('utf8');
    },
  };
}
