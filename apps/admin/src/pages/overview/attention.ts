import type { FleetNumbers } from '../../api/fleet.ts';
import { clock, countAtLeast, percent } from '../../format.ts';
import { paths } from '../../paths.ts';
import { status } from '../../status.ts';
import type { Attention } from './overview-queries.ts';

export interface AttentionItem {
  key: string;
  tone: 'warn' | 'bad';
  kind: 'deployment' | 'parked' | 'worker';
  fact: string;
  rest: string;
  /** Since when, as far as the API says. */
  since: string | null;
  href: string;
  verb: string;
}

/** Parked longer than this needs a look. */
export const PARKED_TOO_LONG_MS = 5 * 60_000;

/** What somebody may have to do something about, worst first. */
export function attentionItems(attention: Attention, fleet: FleetNumbers | undefined): AttentionItem[] {
  const items: AttentionItem[] = [];
  for (const deployment of attention.deployments.nodes) {
    const href = paths.deployment(deployment.slug);
    const since = latest(
      deployment.variants.flatMap((variant) => (variant.dead ? variant.roles.map((role) => role.since) : [])),
    );
    if (deployment.unavailable) {
      items.push({
        key: `deployment ${deployment.slug}`,
        tone: 'bad',
        kind: 'deployment',
        fact: `${deployment.slug} cannot be called`,
        rest: 'every variant is pinned to roles without a healthy worker; calls fail with NO_HEALTHY_VARIANT.',
        since,
        href,
        verb: 'Open deployment',
      });
      continue;
    }
    const alive = deployment.variants.filter((variant) => !variant.dead).map((variant) => variant.label);
    for (const variant of deployment.variants.filter((each) => each.dead)) {
      items.push({
        key: `deployment ${deployment.slug} ${variant.label}`,
        tone: 'warn',
        kind: 'deployment',
        fact: `${deployment.slug} / ${variant.label} is skipped`,
        rest: `no healthy worker with role ${variant.targetRoles.join(' or ')}. Its ${percent(variant.share)} goes to ${alive.join(', ')}.`,
        since: latest(variant.roles.map((role) => role.since)),
        href,
        verb: 'Open deployment',
      });
    }
  }
  if (attention.executions.totalCount > 0) {
    const reasons = (fleet?.parkedReasons ?? []).slice(0, 2).map((each) => `${each.count}: ${each.reason}`);
    const { totalCount, totalCountExact } = attention.executions;
    items.push({
      key: 'parked',
      tone: 'warn',
      kind: 'parked',
      fact: `${countAtLeast(totalCount, totalCountExact)} ${totalCount === 1 ? 'execution' : 'executions'} parked longer than 5 m`,
      rest: reasons.length > 0 ? `${reasons.join('; ')}.` : 'nobody can take them now.',
      since: null,
      href: paths.executions({ parked: '1' }),
      verb: 'Show parked',
    });
  }
  for (const worker of attention.workers.nodes) {
    items.push({
      key: `worker ${worker.name}`,
      tone: worker.status === 'OFFLINE' ? 'bad' : 'warn',
      kind: 'worker',
      fact: `${worker.name} is ${status.worker[worker.status].word.toLowerCase()}`,
      rest:
        worker.statusReasons.length > 0
          ? `${worker.statusReasons.join(', ')}.`
          : `last heard at ${clock(worker.lastSeenAt)}.`,
      since: worker.lastSeenAt,
      href: paths.worker(worker.name),
      verb: 'Open worker',
    });
  }
  // A worker that is offline has already lost its work: a deployment that cannot be called comes first.
  const rank = (item: AttentionItem): number =>
    item.kind === 'deployment' ? (item.tone === 'bad' ? 0 : 1) : item.kind === 'parked' ? 2 : 3;
  return items.toSorted((a, b) => rank(a) - rank(b));
}

function latest(moments: readonly (string | null | undefined)[]): string | null {
  return moments.reduce<string | null>(
    (last, moment) => (moment != null && (last === null || moment > last) ? moment : last),
    null,
  );
}
