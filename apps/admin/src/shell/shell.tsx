import { Button, Drawer } from '@mantine/core';
import { IconMenu2, IconSearch } from '@tabler/icons-react';
import { useIsFetching, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { useDeploymentTicks } from '../api/deployment-health.ts';
import { useFleet } from '../api/fleet.ts';
import { freeze, useLiveView } from '../api/live.ts';
import { useRoles } from '../api/roles.ts';
import { clock, plural } from '../format.ts';
import { useCrumbs } from '../hooks/use-page.ts';
import { Anchor } from '../ui/anchor.tsx';
import { Banner } from '../ui/banner.tsx';
import { Glyph } from '../ui/icon.tsx';
import { showToast } from '../ui/toast.tsx';
import { ConnectionBadge } from './connection-badge.tsx';
import { KeyboardHelp } from './keyboard-help.tsx';
import { Nav } from './nav.tsx';
import { Palette } from './palette.tsx';
import { SchemeToggle } from './scheme-toggle.tsx';
import { useShortcuts } from './use-shortcuts.ts';
import { ViewerMenu } from './viewer-menu.tsx';

/** The frame of every page: navigation, top bar, connection, dialogs of the whole app. */
export function Shell({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState<'nothing' | 'palette' | 'help' | 'nav'>('nothing');
  const close = (): void => setOpen('nothing');
  const opener = useMemo(() => ({ palette: () => setOpen('palette'), help: () => setOpen('help') }), []);
  const fetching = useIsFetching() > 0;
  useShortcuts(opener);
  useFleet(true);
  useRoles(true);
  useDeploymentTicks();
  useFreshAfterLoss();
  return (
    <div className="app">
      <a className="skip" href="#main" onClick={skipToMain}>
        Skip to content
      </a>
      <Nav />
      <div className="main">
        <header className="top">
          <button
            type="button"
            className="icon-button burger"
            aria-label="Open navigation"
            onClick={() => setOpen('nav')}
          >
            <Glyph icon={IconMenu2} />
          </button>
          <Breadcrumb />
          <button type="button" className="search" aria-keyshortcuts="Control+K" onClick={opener.palette}>
            <Glyph icon={IconSearch} />
            <span>Search or jump to…</span>
            <kbd>Ctrl K</kbd>
          </button>
          <ConnectionBadge />
          <SchemeToggle />
          <ViewerMenu onShowKeys={opener.help} />
          {fetching && <div className="busy" aria-hidden />}
        </header>
        <main id="main" tabIndex={-1}>
          <ConnectionBanner />
          {children}
        </main>
      </div>
      <HeldUpdates />
      {open === 'nav' && (
        <Drawer.Root opened onClose={close} size={240} padding={0} transitionProps={{ duration: 120 }}>
          <Drawer.Overlay />
          <Drawer.Content aria-label="Navigation">
            <Nav onFollow={close} />
          </Drawer.Content>
        </Drawer.Root>
      )}
      {open === 'palette' && <Palette onClose={close} />}
      {open === 'help' && <KeyboardHelp onClose={close} />}
    </div>
  );
}

function skipToMain(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Breadcrumb() {
  const crumbs = useCrumbs();
  return (
    <nav className="crumb" aria-label="Breadcrumb">
      <ol>
        {crumbs.map((crumb, index) => (
          <li key={crumb.name} aria-current={index === crumbs.length - 1 ? 'page' : undefined}>
            {crumb.href ? <Anchor href={crumb.href}>{crumb.name}</Anchor> : crumb.name}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function ConnectionBanner() {
  const { status, downSince } = useLiveView();
  const client = useQueryClient();
  if (status !== 'STALE') return null;
  return (
    <Banner
      tone="warn"
      title={`Not updating. What you see is from ${clock(downSince)}.`}
      action={<Button onClick={() => void client.invalidateQueries()}>Try now</Button>}
    >
      The connection was lost. Reading every 10 s meanwhile.
    </Banner>
  );
}

function HeldUpdates() {
  const { status, held } = useLiveView();
  if (status !== 'PAUSED' || held === 0) return null;
  return (
    <div className="held">
      <Button variant="filled" onClick={() => freeze(false)}>
        {plural(held, 'update')} · Show
      </Button>
    </div>
  );
}

/** Once the connection is back, everything that no subscription carries is read again. */
function useFreshAfterLoss(): void {
  const client = useQueryClient();
  const { status } = useLiveView();
  const lost = useRef(false);
  useEffect(() => {
    if (status === 'RECONNECTING' || status === 'STALE') lost.current = true;
    if (status === 'LIVE' && lost.current) {
      lost.current = false;
      showToast({ message: 'Connection restored' });
      void client.invalidateQueries();
    }
  }, [client, status]);
}
