import { Button } from '@mantine/core';
import { percent } from '../../format.ts';
import { paths } from '../../paths.ts';
import { useFollow } from '../../ui/anchor.tsx';
import { Banner } from '../../ui/banner.tsx';
import type { Share } from './shares.ts';
import { listOf } from './shares.ts';

interface Pinned {
  key: string;
  label: string;
  share: Share;
  targetRoles: readonly string[];
}

/** Everything dead: calls fail. Some dead: they are skipped, and their part goes to the others. */
export function DeadRoleBanners({ variants }: { variants: readonly Pinned[] }) {
  const follow = useFollow();
  const weighted = variants.filter((variant) => variant.share.configured > 0);
  const dead = weighted.filter((variant) => variant.share.dead);
  const alive = weighted.filter((variant) => !variant.share.dead);
  const show = (role: string | undefined) =>
    role === undefined ? undefined : <Button onClick={() => follow(paths.workers({ role }))}>Show role</Button>;
  if (dead.length > 0 && alive.length === 0) {
    const roles = [...new Set(dead.flatMap((variant) => variant.targetRoles))];
    return (
      <Banner tone="bad" title="No live variant. Calls fail with NO_HEALTHY_VARIANT." action={show(roles[0])}>
        No healthy worker has the role {listOf(roles, 'or')}. Calls succeed again as soon as one such worker is healthy.
      </Banner>
    );
  }
  return dead.map((variant) => (
    <Banner
      key={variant.key}
      tone="warn"
      title={`${variant.label} is skipped: no healthy worker has the role ${listOf(variant.targetRoles, 'or')}`}
      action={show(variant.targetRoles[0])}
    >
      Its {percent(variant.share.configured)} goes to {listOf(alive.map((each) => each.label))}. Sticky sessions return
      to {variant.label} as soon as one such worker is healthy.
    </Banner>
  ));
}
