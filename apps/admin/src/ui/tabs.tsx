import type { ReactNode } from 'react';
import { Anchor } from './anchor.tsx';

/** Tabs that are addresses. */
export function TabLinks({
  label,
  current,
  tabs,
}: {
  label: string;
  current: string;
  tabs: ReadonlyArray<{ id: string; name: string; href: string; count?: ReactNode }>;
}) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Anchor key={tab.id} href={tab.href} aria-current={tab.id === current ? 'page' : undefined}>
          {tab.name}
          {tab.count != null && <span className="cnt">{tab.count}</span>}
        </Anchor>
      ))}
    </nav>
  );
}
