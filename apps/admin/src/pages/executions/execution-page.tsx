import { Button } from '@mantine/core';
import { IconZoomQuestion } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ApiError, execute } from '../../api/client.ts';
import type { ExecutionQuery } from '../../api/generated/graphql.ts';
import { useSubscription } from '../../api/live.ts';
import { usePollWhenStale } from '../../api/polling.ts';
import { noticeServerTime } from '../../api/server-clock.ts';
import { shortId } from '../../format.ts';
import { usePage } from '../../hooks/use-page.ts';
import { paths } from '../../paths.ts';
import { executionLook } from '../../status.ts';
import { useFollow } from '../../ui/anchor.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { PageHead, Panel } from '../../ui/layout.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { EmptyView, ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { Attempts } from './attempts.tsx';
import { Children } from './children.tsx';
import { ExecutionActions } from './execution-actions.tsx';
import { ExecutionMeta } from './execution-meta.tsx';
import {
  type ExecutionDetail,
  ExecutionDocument,
  ExecutionEventsDocument,
  ExecutionLiveDocument,
  type TimelineEvent,
} from './execution-queries.ts';
import { Steps } from './steps.tsx';
import { Timeline } from './timeline.tsx';
import { withParkings } from './timeline-words.ts';
import { CancellingBanner, WaitingBanner } from './waiting.tsx';
import { ParkedBanner, WhyHere, WhyWaitingPanel } from './why.tsx';

export function ExecutionPage() {
  const { id = '' } = useParams({ strict: false });
  const follow = useFollow();
  usePage([{ name: 'Executions', href: paths.executions() }, { name: shortId(id) }]);
  const query = useLiveExecution(id);
  const execution = query.data?.execution;
  return (
    <>
      <PageHead
        mono={query.data?.execution !== null}
        title={query.data?.execution === null ? 'Execution not found' : id}
        badge={execution && <StatusBadge look={executionLook(execution)} pill />}
        meta={execution && <ExecutionMeta execution={execution} />}
        actions={execution && <ExecutionActions execution={execution} />}
      />
      {execution ? (
        <Body
          execution={execution}
          events={withParkings(execution.events.nodes, execution.decisions.nodes)}
          hasSteps={execution.steps.totalCount > 0}
        />
      ) : (
        <div className="panel">
          {query.data ? (
            <EmptyView
              icon={IconZoomQuestion}
              title={id}
              actions={<Button onClick={() => follow(paths.executions())}>All executions</Button>}
            >
              <p>No execution has this id. Ended ones are kept for a while and then forgotten.</p>
            </EmptyView>
          ) : query.isError ? (
            <ErrorView
              what="The execution could not be read"
              failure={query.error}
              onRetry={() => void query.refetch()}
            />
          ) : (
            <SkeletonRows label="the execution" rows={10} />
          )}
        </div>
      )}
    </>
  );
}

/** The execution with its events; both streams write into one cache entry. */
function useLiveExecution(id: string) {
  const client = useQueryClient();
  const key = ['execution', id];
  const query = useQuery<ExecutionQuery, ApiError>({
    queryKey: key,
    queryFn: ({ signal }) => execute(ExecutionDocument, { id }, { signal }),
    // What happened while the page was away came over no subscription.
    staleTime: 0,
    refetchInterval: usePollWhenStale(),
  });
  useSubscription(
    ExecutionLiveDocument,
    { filter: { ids: [id] } },
    {
      next: ({ executionChanges }) => {
        noticeServerTime(executionChanges.at);
        const found = executionChanges.executions.find((each) => each.id === id);
        if (!found) return;
        const before = client.getQueryData<ExecutionQuery>(key)?.execution;
        // Why it was parked is told by a decision, which no event carries.
        if (before && found.parked && before.parkedReason !== found.parkedReason) {
          void client.invalidateQueries({ queryKey: key, exact: true });
        }
        client.setQueryData<ExecutionQuery>(key, (old) =>
          old?.execution
            ? { execution: { ...old.execution, ...found } }
            : { execution: { ...found, events: { nodes: [] }, decisions: { nodes: [] }, steps: { totalCount: 0 } } },
        );
      },
    },
  );
  useSubscription(
    ExecutionEventsDocument,
    { id },
    {
      next: ({ executionEvents: event }) =>
        client.setQueryData<ExecutionQuery>(key, (old) => {
          if (!old?.execution) return old;
          const { nodes } = old.execution.events;
          if (nodes.some((each) => each.sequence === event.sequence)) return old;
          return { execution: { ...old.execution, events: { nodes: [...nodes, event] } } };
        }),
    },
    query.data?.execution != null,
  );
  return query;
}

function Body({
  execution,
  events,
  hasSteps,
}: {
  execution: ExecutionDetail;
  events: readonly TimelineEvent[];
  hasSteps: boolean;
}) {
  const waiting = execution.state === 'PENDING' || execution.state === 'RESUMING';
  return (
    <>
      {execution.parked && <ParkedBanner execution={execution} />}
      <WaitingBanner execution={execution} />
      <CancellingBanner execution={execution} />
      <div className="grid g53 start-aligned">
        <div className="grid">
          <WhyHere execution={execution} />
          {waiting && <WhyWaitingPanel execution={execution} />}
          {execution.error && (
            <Panel title="Error" aside={execution.error.retryable ? 'retryable' : 'not retryable'}>
              <p className="strong">{execution.error.type}</p>
              <p>{execution.error.message}</p>
              {execution.error.stack != null && (
                // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
                <pre className="code mt" tabIndex={0} role="region" aria-label="Stack of the error">
                  {execution.error.stack}
                </pre>
              )}
            </Panel>
          )}
          <Steps
            key={execution.id}
            execution={execution}
            expected={hasSteps}
            mark={`${execution.revision} ${execution.updatedAt} ${events.length}`}
          />
          <Children id={execution.id} />
          {execution.attempts.length > 0 && <Attempts attempts={execution.attempts} />}
          <Panel
            title="Input"
            aside={<CopyButton text={JSON.stringify(execution.input, null, 2)} label="Copy input" />}
          >
            <JsonView value={execution.input} label="Input, JSON" />
          </Panel>
          {(execution.output != null || execution.state === 'COMPLETED') && (
            <Panel
              title="Output"
              aside={<CopyButton text={JSON.stringify(execution.output, null, 2)} label="Copy output" />}
            >
              <JsonView value={execution.output} label="Output, JSON" />
            </Panel>
          )}
        </div>
        <Timeline execution={execution} events={events} />
      </div>
    </>
  );
}
