export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Takes what the worker has to say; `fields` are ids and numbers, never inputs or outputs. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** The default: one JSON line on stderr for everything above debug, so that stdout stays the program's. */
export const logToStderr: Log = (level, message, fields = {}) => {
  if (level === 'debug') return;
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`);
};
