import { type ReactNode, useId } from 'react';

export function PageHead({
  title,
  mono = false,
  badge,
  meta,
  actions,
}: {
  title: ReactNode;
  mono?: boolean;
  badge?: ReactNode;
  meta?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div className="ph">
      <div className="ph-l">
        <h1 tabIndex={-1} className={mono ? 'mono' : undefined}>
          {title}
        </h1>
        {badge}
      </div>
      {actions && <div className="ph-a">{actions}</div>}
      {meta && <div className="ph-m">{meta}</div>}
    </div>
  );
}

/** The dot between two facts of a meta line. */
export function Dot() {
  return (
    <span className="sep" aria-hidden>
      ·
    </span>
  );
}

export function Count({ children }: { children: ReactNode }) {
  return <span className="cnt">{children}</span>;
}

/** A titled block. `flush`: tables run edge to edge. `open`: what is in it may stick out. */
export function Panel({
  title,
  count,
  aside,
  children,
  className = '',
  flush = false,
  open = false,
}: {
  title: ReactNode;
  count?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
  flush?: boolean;
  open?: boolean;
}) {
  const id = useId();
  return (
    <section className={`panel ${open ? 'open ' : ''}${className}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>
          {title}
          {count != null && <Count>{count}</Count>}
        </h2>
        {aside != null && <div className="aside">{aside}</div>}
      </header>
      {flush ? children : <div className="body">{children}</div>}
    </section>
  );
}

/** A wide thing that scrolls by itself. It is a stop for the keyboard, so its name must differ from its panel's. */
export function Scroll({ label, children }: { label: string; children: ReactNode }) {
  return (
    // A scroll region must be reachable by keyboard (WCAG 2.1.1).
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <section className="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

/** A strip of facts: label over value. */
export function Facts({ facts }: { facts: ReadonlyArray<{ label: string; value: ReactNode; note?: ReactNode }> }) {
  return (
    <dl className="facts">
      {facts.map((fact) => (
        <div key={fact.label}>
          <dt>{fact.label}</dt>
          <dd>
            {fact.value}
            {fact.note != null && <small>{fact.note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
