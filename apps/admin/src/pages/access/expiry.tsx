import { age, moment } from '../../format.ts';
import { useServerNow } from '../../hooks/use-server-now.ts';

/** When something ends, or ended; null: never. */
export function Expiry({ at }: { at: string | null }) {
  const now = useServerNow();
  if (at === null) return <>never</>;
  const left = Date.parse(at) - now;
  return (
    <time dateTime={at} title={moment(at)}>
      {left > 0 ? `in ${age(left)}` : `${age(-left)} ago`}
    </time>
  );
}
