import { useRouterState } from '@tanstack/react-router';
import {
  type Icon,
  IconGitFork,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconLock,
  IconPlayerPlay,
  IconServer,
  IconSitemap,
} from '@tabler/icons-react';
import { useDeploymentHealth } from '../api/deployment-health.ts';
import { useFleet } from '../api/fleet.ts';
import { usePermission } from '../api/viewer.ts';
import { count } from '../format.ts';
import { paths } from '../paths.ts';
import { Anchor } from '../ui/anchor.tsx';
import { Glyph } from '../ui/icon.tsx';
import { neededText } from '../ui/permitted.tsx';
import { Brand } from './brand.tsx';

/** Every section of the app; also the palette's "Go to" and the `g` keys. */
export const SECTIONS: ReadonlyArray<{
  name: string;
  href: string;
  icon: Icon;
  key: string;
  roots: readonly string[];
}> = [
  { name: 'Overview', href: paths.overview(), icon: IconLayoutDashboard, key: 'o', roots: [''] },
  { name: 'Deployments', href: paths.deployments(), icon: IconGitFork, key: 'd', roots: ['deployments'] },
  { name: 'Workers', href: paths.workers(), icon: IconServer, key: 'w', roots: ['workers'] },
  { name: 'Executions', href: paths.executions(), icon: IconPlayerPlay, key: 'e', roots: ['executions', 'decisions'] },
  { name: 'Workflows', href: paths.workflows(), icon: IconSitemap, key: 'f', roots: ['workflows'] },
  { name: 'Access', href: paths.principals(), icon: IconKey, key: 'c', roots: ['access'] },
  { name: 'Audit', href: paths.audit(), icon: IconHistory, key: 'a', roots: ['audit'] },
];

export function Nav({ onFollow }: { onFollow?: () => void }) {
  const root = useRouterState({ select: (state) => state.location.pathname.split('/', 2)[1] ?? '' });
  const fleet = useFleet().data?.fleetMetrics;
  const health = useDeploymentHealth();
  const audit = usePermission('admin:audit:read');
  const counts: Record<string, { text: string; tone?: string }> = {};
  if (fleet) counts['Workers'] = { text: count(fleet.workers) };
  if (health.unavailable > 0) counts['Deployments'] = { text: `${health.unavailable} unavailable`, tone: 'bad' };
  else if (health.degraded > 0) counts['Deployments'] = { text: `${health.degraded} degraded`, tone: 'warn' };
  if (fleet && fleet.parked > 0) counts['Executions'] = { text: `${count(fleet.parked)} parked`, tone: 'warn' };
  return (
    <nav className="nav" aria-label="Main">
      <Brand />
      {SECTIONS.map((section) => {
        const counted = counts[section.name];
        const need = section.name === 'Audit' ? audit : null;
        return (
          <Anchor
            key={section.name}
            className="nav-item"
            href={section.href}
            aria-current={section.roots.includes(root) ? 'page' : undefined}
            onClick={onFollow}
          >
            <Glyph icon={section.icon} />
            {section.name}
            {need && !need.allowed && (
              <span className="nav-count" title={neededText(need)}>
                <IconLock size={13} aria-hidden />
                <span className="sr">{neededText(need)}</span>
              </span>
            )}
            {counted && <span className={`nav-count ${counted.tone ?? ''}`}>{counted.text}</span>}
          </Anchor>
        );
      })}
    </nav>
  );
}
