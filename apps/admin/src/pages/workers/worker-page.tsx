import { Button } from '@mantine/core';
import { IconBarrierBlock, IconCircleCheck, IconFilterDown, IconServerOff } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { WorkerQuery } from '../../api/generated/graphql.ts';
import { useSubscription } from '../../api/live.ts';
import { noticeServerTime } from '../../api/server-clock.ts';
import { usePollWhenStale } from '../../api/polling.ts';
import { usePage } from '../../hooks/use-page.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { paths } from '../../paths.ts';
import { status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { useFollow } from '../../ui/anchor.tsx';
import { Banner } from '../../ui/banner.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Dot, Facts, PageHead } from '../../ui/layout.tsx';
import { LoadBar } from '../../ui/load-bar.tsx';
import { PermittedButton } from '../../ui/permitted.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TabLinks } from '../../ui/tabs.tsx';
import { EmptyView, ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { choice } from '../../url-state.ts';
import { type MetricHistory, recordMetrics } from './metric-history.ts';
import { MetricsPanel } from './metrics-panel.tsx';
import { WorkerAssertions } from './worker-assertions.tsx';
import { WorkerDecisions, WorkerExecutions } from './worker-lists.tsx';
import { statusReason } from './worker-filter.ts';
import { type WorkerDetail, WorkerDocument, WorkerLiveDocument } from './worker-queries.ts';
import { useWorkerVerbs, WorkerMenu } from './worker-verbs.tsx';

const SHAPE = { tab: choice(['summary', 'executions', 'decisions'], 'summary') };

export function WorkerPage() {
  const { name = '' } = useParams({ strict: false });
  const client = useQueryClient();
  usePage([{ name: 'Workers', href: paths.workers() }, { name }]);
  const query = useQuery<WorkerQuery, ApiError>({
    queryKey: ['worker', name],
    queryFn: ({ signal }) => execute(WorkerDocument, { name }, { signal }),
    refetchInterval: usePollWhenStale(),
  });
  useSubscription(
    WorkerLiveDocument,
    { filter: { names: [name] } },
    {
      next: ({ workerEvents }) => {
        noticeServerTime(workerEvents.at);
        const found = workerEvents.workers.find((each) => each.name === name);
        if (found) client.setQueryData<WorkerQuery>(['worker', name], { worker: found });
        else if (workerEvents.kind === 'REMOVED') client.setQueryData<WorkerQuery>(['worker', name], { worker: null });
      },
    },
  );
  const worker = query.data?.worker;
  return worker ? (
    <Detail worker={worker} />
  ) : (
    <>
      <PageHead title={query.data ? 'Worker not found' : name} />
      <div className="panel">
        {query.data ? (
          <NotFound name={name} />
        ) : query.isError ? (
          <ErrorView what="The worker could not be read" failure={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <SkeletonRows label={name} />
        )}
      </div>
    </>
  );
}

function NotFound({ name }: { name: string }) {
  const follow = useFollow();
  return (
    <EmptyView
      icon={IconServerOff}
      title={name}
      actions={<Button onClick={() => follow(paths.workers())}>All workers</Button>}
    >
      <p>No worker of this name is registered. It may have been removed, or it has not said hello yet.</p>
    </EmptyView>
  );
}

function Detail({ worker }: { worker: WorkerDetail }) {
  const [{ tab }] = useUrlState(SHAPE);
  const history = useMetricHistory(worker);
  const reason = statusReason(worker);
  const failing = worker.checks.filter((check) => !check.healthy);
  return (
    <>
      <PageHead
        title={worker.name}
        badge={
          <>
            <StatusBadge look={status.worker[worker.status]} pill />
            {worker.availability !== 'ACTIVE' && <StatusBadge look={status.availability[worker.availability]} pill />}
          </>
        }
        meta={
          <>
            {worker.role} on {worker.hostname}
            <Dot />
            {worker.version}
            <Dot />
            up <Ago at={worker.startedAt} />
            <Dot />
            <span className="mono">{worker.id}</span>
          </>
        }
        actions={<Actions worker={worker} />}
      />
      {worker.status !== 'HEALTHY' && (
        <Banner
          tone={worker.status === 'OFFLINE' ? 'bad' : 'warn'}
          title={`${worker.name} is ${status.worker[worker.status].word.toLowerCase()}${reason ? `: ${reason}` : ''}`}
        >
          It gets nothing new.{' '}
          {failing.map((check) => `Check ${check.name} fails${check.message ? `: ${check.message}` : ''}.`).join(' ')}
        </Banner>
      )}
      <Facts
        facts={[
          { label: 'Load', value: <LoadBar load={worker.load} capacity={worker.capacity} /> },
          { label: 'Last heartbeat', value: <Ago at={worker.lastSeenAt} suffix /> },
          checksFact(worker),
          {
            label: 'Eligible',
            value: worker.eligible ? 'Yes' : 'No',
            note: worker.eligible ? 'healthy, active, connected' : whyNotEligible(worker, reason),
          },
          {
            label: 'Takes',
            value: worker.workflows.length === 0 ? 'any workflow' : `${worker.workflows.length} workflows`,
            note: worker.runners.join(', '),
          },
        ]}
      />
      <TabLinks
        label={`Views of ${worker.name}`}
        current={tab}
        tabs={[
          { id: 'summary', name: 'Summary', href: paths.worker(worker.name) },
          {
            id: 'executions',
            name: 'Executions',
            href: paths.worker(worker.name, { tab: 'executions' }),
            count: `${worker.load} on it`,
          },
          { id: 'decisions', name: 'Decisions', href: paths.worker(worker.name, { tab: 'decisions' }) },
        ]}
      />
      {tab === 'summary' && (
        <>
          <WorkerAssertions worker={worker} />
          <MetricsPanel metrics={worker.metrics} history={history} />
        </>
      )}
      {tab === 'executions' && <WorkerExecutions name={worker.name} load={worker.load} />}
      {tab === 'decisions' && <WorkerDecisions name={worker.name} load={worker.load} />}
    </>
  );
}

/** What this browser has received; starts empty for each worker. */
function useMetricHistory(worker: WorkerDetail): MetricHistory {
  const [seen, setSeen] = useState<{ name: string; metrics: unknown; history: MetricHistory }>({
    name: worker.name,
    metrics: null,
    history: {},
  });
  if (seen.name === worker.name && seen.metrics === worker.metrics) return seen.history;
  // Derived from what has arrived: React renders again at once with the new state.
  const before = seen.name === worker.name ? seen.history : {};
  const history = recordMetrics(before, worker.metrics, Date.parse(worker.lastSeenAt));
  setSeen({ name: worker.name, metrics: worker.metrics, history });
  return history;
}

function Actions({ worker }: { worker: WorkerDetail }) {
  const follow = useFollow();
  const verbs = useWorkerVerbs(worker, () => follow(paths.workers()));
  const active = worker.availability === 'ACTIVE';
  return (
    <>
      <PermittedButton
        need={verbs.need}
        loading={verbs.pending}
        leftSection={<Glyph icon={active ? IconBarrierBlock : IconCircleCheck} />}
        onClick={() => verbs.set(active ? 'CORDONED' : 'ACTIVE')}
      >
        {active ? 'Cordon' : 'Activate'}
      </PermittedButton>
      {worker.availability !== 'DRAINING' && (
        <PermittedButton
          need={verbs.need}
          leftSection={<Glyph icon={IconFilterDown} />}
          onClick={() => verbs.set('DRAINING')}
        >
          Drain…
        </PermittedButton>
      )}
      <WorkerMenu worker={worker} verbs={verbs} withAvailability={false} />
      {verbs.dialog}
    </>
  );
}

function checksFact(worker: WorkerDetail) {
  const passing = worker.checks.filter((check) => check.healthy).length;
  if (worker.checks.length === 0) return { label: 'Checks', value: '–', note: 'none reported' };
  return {
    label: 'Checks',
    value: `${passing} of ${worker.checks.length} pass`,
    note: worker.checks.map((check) => `${check.name}${check.healthy ? '' : ' fails'}`).join(', '),
  };
}

function whyNotEligible(worker: WorkerDetail, reason: string | null): string {
  if (worker.status !== 'HEALTHY') return reason ?? status.worker[worker.status].word.toLowerCase();
  if (worker.availability !== 'ACTIVE') return status.availability[worker.availability].word.toLowerCase();
  return 'not connected';
}
