import { CommandError, exitCodes } from '../exit-codes.ts';

const units = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** A duration in whole seconds, from 1 to `most`: `90`, `90s`, `15m`, `2h` or `1d`. Throws a usage error otherwise. */
export function parseDuration(text: string, what: string, most: number): number {
  const [, count, unit = 's'] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(count) * (units[(unit || 's') as keyof typeof units] ?? Number.NaN);
  if (seconds >= 1 && seconds <= most) return seconds;
  throw new CommandError(`${what} is seconds, or a number with s, m, h or d: 90, 15m, 2h, 1d.`, exitCodes.usage);
}
