import { Button, Menu } from '@mantine/core';
import {
  IconCircleMinus,
  IconCopy,
  IconDots,
  IconLink,
  IconPlayerPlay,
  IconRefresh,
  IconZoomQuestion,
} from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { ExecutionQuery } from '../../api/generated/graphql.ts';
import { useSubscription } from '../../api/live.ts';
import { noticeServerTime } from '../../api/server-clock.ts';
import { useMay } from '../../api/viewer.ts';
import { usePollWhenStale } from '../../api/polling.ts';
import { duration, shortId } from '../../format.ts';
import { usePage } from '../../hooks/use-page.ts';
import { useServerNow } from '../../hooks/use-server-now.ts';
import { paths } from '../../paths.ts';
import { executionLook } from '../../status.ts';
import { Anchor, useFollow } from '../../ui/anchor.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { CopyButton, copyText } from '../../ui/copy.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Dot, PageHead, Panel } from '../../ui/layout.tsx';
import { PermittedButton } from '../../ui/permitted-button.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EmptyView, ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { Attempts } from './attempts.tsx';
import { asCurl, asGraphql, callOf } from './copy-as.ts';
import {
  CancelDocument,
  type ExecutionDetail,
  ExecutionDocument,
  ExecutionEventsDocument,
  ExecutionLiveDocument,
  RetryDocument,
  type TimelineEvent,
} from './execution-queries.ts';
import { Timeline } from './timeline.tsx';
import { withParkings } from './timeline-words.ts';
import { ParkedBanner, WhyHere, WhyWaitingPanel } from './why.tsx';

const ENDED = new Set(['COMPLETED', 'FAILED', 'CANCELLED']);

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
        meta={execution && <Meta execution={execution} />}
        actions={execution && <Actions execution={execution} />}
      />
      {execution ? (
        <Body execution={execution} events={withParkings(execution.events.nodes, execution.decisions.nodes)} />
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
            : { execution: { ...found, events: { nodes: [] }, decisions: { nodes: [] } } },
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

function Meta({ execution }: { execution: ExecutionDetail }) {
  return (
    <>
      {execution.deployment && (
        <>
          <Anchor className="l" href={paths.deployment(execution.deployment.slug)}>
            {execution.deployment.slug}
          </Anchor>{' '}
          / {execution.variantLabel}
          <Dot />
        </>
      )}
      <Anchor
        className="l"
        href={paths.workflow(
          execution.workflowRef,
          execution.version ? { version: String(execution.version.number) } : {},
        )}
      >
        {execution.workflowRef}
        {execution.version && ` v${execution.version.number}`}
      </Anchor>
      {execution.workerName && (
        <>
          <Dot />
          on{' '}
          <Anchor className="l" href={paths.worker(execution.workerName)}>
            {execution.workerName}
          </Anchor>
        </>
      )}
      <Dot />
      attempt {execution.attempt} of {execution.maxAttempts}
      <Dot />
      <Elapsed execution={execution} />
      <Dot />
      by {execution.submittedBy}
      {execution.sessionKey != null && (
        <>
          <Dot />
          session <span className="mono">{execution.sessionKey}</span>
        </>
      )}
      {execution.retryOf && (
        <>
          <Dot />
          retry of{' '}
          <Anchor className="l mono" href={paths.execution(execution.retryOf.id)}>
            {shortId(execution.retryOf.id)}
          </Anchor>
        </>
      )}
    </>
  );
}

function Elapsed({ execution }: { execution: ExecutionDetail }) {
  const now = useServerNow();
  const { startedAt, finishedAt, createdAt } = execution;
  if (startedAt) {
    const ms = (finishedAt ? Date.parse(finishedAt) : now) - Date.parse(startedAt);
    return `${finishedAt ? 'ran' : 'running'} ${duration(Math.max(0, ms))}`;
  }
  if (finishedAt) return `ended after ${duration(Date.parse(finishedAt) - Date.parse(createdAt))}`;
  return `waiting ${duration(Math.max(0, now - Date.parse(createdAt)))}`;
}

function Actions({ execution }: { execution: ExecutionDetail }) {
  const client = useQueryClient();
  const follow = useFollow();
  const may = useMay();
  const [asking, setAsking] = useState(false);
  const ended = ENDED.has(execution.state);
  const cancel = useMutation<unknown, ApiError>({
    mutationFn: () => execute(CancelDocument, { input: { id: execution.id } }),
    onSuccess: () => {
      setAsking(false);
      void client.invalidateQueries({ queryKey: ['execution', execution.id] });
    },
    onError: (error) => {
      setAsking(false);
      showToast({ message: error.message });
    },
  });
  const retry = useMutation<string, ApiError>({
    mutationFn: async () => (await execute(RetryDocument, { input: { id: execution.id } })).retryExecution.execution.id,
    onSuccess: (id) => follow(paths.execution(id)),
    onError: (error) => showToast({ message: error.message }),
  });
  return (
    <>
      <CopyAs execution={execution} />
      {ended ? (
        <PermittedButton
          permission="execution:create"
          allowed={may('execution:create')}
          loading={retry.isPending}
          leftSection={<Glyph icon={IconRefresh} />}
          onClick={() => retry.mutate()}
        >
          Retry
        </PermittedButton>
      ) : (
        <PermittedButton
          permission="execution:cancel"
          allowed={may('execution:cancel')}
          leftSection={<Glyph icon={IconCircleMinus} />}
          onClick={() => setAsking(true)}
        >
          Cancel…
        </PermittedButton>
      )}
      <More execution={execution} />
      {asking && (
        <Confirm
          title={`Cancel ${shortId(execution.id)}?`}
          verb="Cancel execution"
          danger
          pending={cancel.isPending}
          onConfirm={() => cancel.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>
            {execution.workerName
              ? `${execution.workerName} is told to stop. What it has done already stays done.`
              : 'It has not started, so nothing was done yet.'}
          </p>
        </Confirm>
      )}
    </>
  );
}

function CopyAs({ execution }: { execution: ExecutionDetail }) {
  const call = callOf(execution);
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <Button leftSection={<Glyph icon={IconCopy} />}>Copy as</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void copyText(asCurl(call, location.origin), 'curl command copied')}>
          Copy as curl
        </Menu.Item>
        <Menu.Item onClick={() => void copyText(asGraphql(call), 'GraphQL copied')}>Copy as GraphQL</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function More({ execution }: { execution: ExecutionDetail }) {
  const follow = useFollow();
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <button type="button" className="icon-button" aria-label={`More actions for ${shortId(execution.id)}`}>
          <Glyph icon={IconDots} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Glyph icon={IconCopy} />} onClick={() => void copyText(execution.id)}>
          Copy id
        </Menu.Item>
        <Menu.Item
          leftSection={<Glyph icon={IconLink} />}
          onClick={() => void copyText(location.origin + paths.execution(execution.id))}
        >
          Copy link
        </Menu.Item>
        <Menu.Item
          leftSection={<Glyph icon={IconPlayerPlay} />}
          onClick={() =>
            follow(
              paths.executionNew(
                execution.deployment ? { deployment: execution.deployment.slug } : { workflow: execution.workflowRef },
              ),
            )
          }
        >
          Start another
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Body({ execution, events }: { execution: ExecutionDetail; events: readonly TimelineEvent[] }) {
  const waiting = execution.state === 'PENDING' || execution.state === 'RESUMING';
  return (
    <>
      {execution.parked && <ParkedBanner execution={execution} />}
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
