import { pino, type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from './config.ts';

export type Log = Logger;

/** What never stands in a line, wherever somebody may put it by mistake: at the top of one or a level or two below. */
const HIDDEN = [
  'authorization',
  'cookie',
  'setCookie',
  'set-cookie',
  'password',
  'token',
  'secret',
  'credential',
  'routingInput',
  'variables',
  'input',
].flatMap((key) =>
  key.includes('-') ? [`["${key}"]`, `*["${key}"]`, `*.*["${key}"]`] : [key, `*.${key}`, `*.*.${key}`],
);

/**
 * Structured log, one JSON object a line. GraphQL documents, variables, inputs and routing input are never given to it; errors are
 * reduced to type, message, code and stack, because drivers put row values into their other fields.
 */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = {
    level,
    base: undefined,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError, error: describeError },
    redact: { paths: HIDDEN, censor: '[hidden]' },
  };
  return destination ? pino(options, destination) : pino(options);
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = (error as { code?: unknown }).code;
  const cause = error.cause instanceof Error ? describeError(error.cause) : undefined;
  return {
    type: error.name,
    message: error.message,
    code: typeof code === 'string' ? code : undefined,
    stack: error.stack,
    cause,
  };
}
