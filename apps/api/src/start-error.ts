/** The server cannot start, and the message is for whoever started it: one sentence. */
export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StartError';
  }
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'ECONNRESET',
  'EHOSTUNREACH',
  '28P01',
  '28000',
  '3D000',
  '57P03',
  '53300',
]);

/** What kept the database from opening, as a sentence where it is nothing to look for in the code. */
export function databaseFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (code !== null && UNREACHABLE.has(code))
    return new StartError(`The database of DATABASE_URL cannot be reached (${code}).`, error);
  if (/^(?:the (?:data directory|lock of the data directory)|migration )/.test(error.message)) {
    return new StartError(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`, error);
  }
  return error;
}
