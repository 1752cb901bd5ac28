import { Button } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { IconBug, IconMapOff } from '@tabler/icons-react';
import { usePage } from '../hooks/use-page.ts';
import { paths } from '../paths.ts';
import { useFollow } from '../ui/anchor.tsx';
import { copyText } from '../ui/copy.tsx';
import { PageHead } from '../ui/layout.tsx';
import { EmptyView } from '../ui/view-states.tsx';

/** No page has this address. */
export function NotFoundPage() {
  const follow = useFollow();
  usePage([{ name: 'Not found' }]);
  return (
    <>
      <PageHead title="Page not found" />
      <div className="panel">
        <EmptyView
          icon={IconMapOff}
          title={location.pathname}
          actions={<Button onClick={() => follow(paths.overview())}>Open overview</Button>}
        >
          <p>No page has this address. Ctrl K finds workers, deployments, workflows and executions by name or id.</p>
        </EmptyView>
      </div>
    </>
  );
}

/** A page that could not be drawn. The frame around it still works. */
export function CrashPage({ error: thrown }: ErrorComponentProps) {
  usePage([{ name: 'Error' }]);
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const details = `${error.name}: ${error.message}\n${location.href}\n${error.stack ?? ''}`;
  return (
    <>
      <PageHead title="This page could not be drawn" />
      <div className="panel" role="alert">
        <EmptyView
          icon={IconBug}
          title={error.message}
          actions={
            <>
              <Button onClick={() => location.reload()}>Reload</Button>
              <Button onClick={() => void copyText(details)}>Copy details</Button>
            </>
          }
        >
          <p>Only this page is affected. The navigation still works.</p>
        </EmptyView>
      </div>
    </>
  );
}
