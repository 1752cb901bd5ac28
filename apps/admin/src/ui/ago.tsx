import { age, clock, moment } from '../format.ts';
import { useServerNow } from '../hooks/use-server-now.ts';

/** An age that ticks, with the full moment in its title. `suffix` adds "ago". */
export function Ago({ at, suffix = false }: { at: string; suffix?: boolean }) {
  const ms = Math.max(0, useServerNow() - Date.parse(at));
  return (
    <time dateTime={at} title={moment(at)}>
      {age(ms)}
      {suffix ? ' ago' : ''}
    </time>
  );
}

/** A moment as a clock time. */
export function At({ at, withMs = false }: { at: string; withMs?: boolean }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {clock(at, withMs)}
    </time>
  );
}
