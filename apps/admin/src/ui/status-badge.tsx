import { Tooltip } from '@mantine/core';
import type { StatusLook } from '../status.ts';

/** Icon and word of a state. `pill` only beside a page title. `tip` repeats what is written elsewhere, never more. */
export function StatusBadge({
  look,
  pill = false,
  tip,
}: {
  look: StatusLook;
  pill?: boolean;
  tip?: string | undefined;
}) {
  const Icon = look.icon;
  const badge = (
    <span className={`st st-${look.tone}${pill ? ' pill' : ''}`}>
      <Icon size={15} stroke={1.9} aria-hidden />
      {look.word}
    </span>
  );
  return tip ? <Tooltip label={tip}>{badge}</Tooltip> : badge;
}
