import { Button } from '@mantine/core';
import { IconCopy, IconFilterOff, IconLock, IconPlugConnectedX, IconRefresh, type Icon } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { copyText } from './copy.tsx';

/** What a block needs to know of a failed read. */
export interface Failure {
  code: string;
  message: string;
  requestId: string | null;
}

/** Where the data would be: what could not be read, what still works, code and request id, Retry. */
export function ErrorView({
  what,
  failure,
  rest = 'Dispatch goes on; only this view is affected.',
  onRetry,
}: {
  what: string;
  failure: Failure;
  rest?: string;
  onRetry?: () => void;
}) {
  if (failure.code === 'FORBIDDEN') return <ForbiddenView message={failure.message} />;
  const details = `${what}\n${failure.code}: ${failure.message}\nrequest ${failure.requestId ?? 'unknown'}\n${location.href}`;
  return (
    <div className="err bad" role="alert">
      <IconPlugConnectedX size={28} stroke={1.5} aria-hidden />
      <h2>{what}</h2>
      <p>
        {failure.message} {rest}
      </p>
      <div className="ids">
        {failure.code}
        {failure.requestId && (
          <>
            {' '}
            · request <span className="mono">{failure.requestId}</span>
          </>
        )}
      </div>
      <div className="row">
        {onRetry && (
          <Button leftSection={<IconRefresh size={16} aria-hidden />} onClick={onRetry}>
            Retry
          </Button>
        )}
        <Button leftSection={<IconCopy size={16} aria-hidden />} onClick={() => void copyText(details)}>
          Copy details
        </Button>
      </div>
    </div>
  );
}

export function ForbiddenView({ message }: { message: string }) {
  return (
    <div className="err">
      <IconLock size={28} stroke={1.5} aria-hidden />
      <h2>Not allowed</h2>
      <p>{message}</p>
    </div>
  );
}

/** Nothing yet, or nothing that matches: a title, a sentence, and what to do about it. */
export function EmptyView({
  icon: Icon,
  title,
  children,
  actions,
}: {
  icon: Icon;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}) {
  return (
    <div className="err">
      <Icon size={28} stroke={1.5} aria-hidden />
      <h2>{title}</h2>
      {children}
      {actions && <div className="row">{actions}</div>}
    </div>
  );
}

export function NoMatchView({ children, onClear }: { children?: ReactNode; onClear: () => void }) {
  return (
    <EmptyView
      icon={IconFilterOff}
      title="Nothing matches these filters"
      actions={<Button onClick={onClear}>Clear filters</Button>}
    >
      {children != null && <p>{children}</p>}
    </EmptyView>
  );
}

/** Shows its children only after 150 ms, so that a fast answer does not flash a skeleton. */
export function AfterAWhile({ children }: { children: ReactNode }) {
  const [due, setDue] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return due ? children : null;
}

const WIDTHS = [96, 120, 72, 140, 60, 110];

/** Rows of a table that is being read. */
export function SkeletonRows({ rows = 8, label }: { rows?: number; label: string }) {
  return (
    <AfterAWhile>
      <div role="status" aria-label={`Reading ${label}`}>
        {Array.from({ length: rows }, (_, row) => (
          // oxlint-disable-next-line react/no-array-index-key
          <div className="sk-row" key={row} aria-hidden>
            {WIDTHS.map((width, i) => (
              <span className="sk" key={width} style={{ width: width - ((row * 13 + i * 7) % 30) }} />
            ))}
          </div>
        ))}
      </div>
    </AfterAWhile>
  );
}
