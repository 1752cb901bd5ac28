import { Button, Modal } from '@mantine/core';
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { ExecutionStepsQuery } from '../../api/generated/graphql.ts';
import { POLL_MS, usePollWhenStale } from '../../api/polling.ts';
import { count } from '../../format.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Panel } from '../../ui/layout.tsx';
import { ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { type ExecutionDetail, type ExecutionStep, ExecutionStepsDocument } from './execution-queries.ts';
import { StepsTable } from './steps-table.tsx';
import { stepKindWords, stepName } from './step-words.ts';

/** Changes of an execution within this time are one reason to read its steps anew. */
const GATHER_MS = 300;

/**
 * What its durable calls have recorded, in the order of positions; nothing where there is none. `expected`: whether it is known
 * to have some. `mark` is another one after each change of the execution, and the steps are read anew then.
 */
export function Steps({ execution, expected, mark }: { execution: ExecutionDetail; expected: boolean; mark: string }) {
  const [shown, setShown] = useState<ExecutionStep | null>(null);
  const [open, setOpen] = useState(false);
  const show = useCallback((step: ExecutionStep) => {
    setShown(step);
    setOpen(true);
  }, []);
  const query = useSteps(execution, mark);
  const pages = query.data?.pages.flatMap((page) => page.execution?.steps ?? []) ?? [];
  const steps = pages.flatMap((page) => page.nodes);
  if (!query.data) {
    if (!query.isError && !expected) return null;
    return (
      <Panel title="Steps" flush>
        {query.isError ? (
          <ErrorView what="The steps could not be read" failure={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <SkeletonRows label="the steps" rows={3} />
        )}
      </Panel>
    );
  }
  if (steps.length === 0) return null;
  const total = Math.max(steps.length, pages.at(-1)?.totalCount ?? 0);
  return (
    <Panel title="Steps" count={count(total)} flush>
      <StepsTable steps={steps} state={execution.state} onShow={show} />
      {query.hasNextPage && (
        <div className="tfoot">
          {query.isFetchNextPageError ? (
            <span role="alert">The next steps could not be read: {query.error?.message}</span>
          ) : (
            <span>
              The first {count(steps.length)} of {count(total)} are shown
            </span>
          )}
          <span className="end">
            <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
              Load more
            </Button>
          </span>
        </div>
      )}
      <StepDialog opened={open} step={shown} onClose={() => setOpen(false)} />
    </Panel>
  );
}

function useSteps({ id, state }: ExecutionDetail, mark: string) {
  const stale = usePollWhenStale();
  // A task that is recorded is no change of the execution; where a handler is at work they are looked for.
  const working = state === 'RUNNING' || state === 'CANCELLING';
  const query = useInfiniteQuery<
    ExecutionStepsQuery,
    ApiError,
    InfiniteData<ExecutionStepsQuery>,
    readonly string[],
    string | null
  >({
    queryKey: ['execution', id, 'steps'],
    queryFn: ({ signal, pageParam }) => execute(ExecutionStepsDocument, { id, after: pageParam }, { signal }),
    initialPageParam: null,
    getNextPageParam: ({ execution }) =>
      execution?.steps.pageInfo.hasNextPage ? execution.steps.pageInfo.endCursor : null,
    staleTime: 0,
    refetchInterval: working ? POLL_MS : stale,
  });
  const { refetch, isFetching } = query;
  const read = useRef(mark);
  useEffect(() => {
    // A read that is under way goes on; the change is read after it.
    if (isFetching || read.current === mark) return undefined;
    const timer = setTimeout(() => {
      read.current = mark;
      void refetch();
    }, GATHER_MS);
    return () => clearTimeout(timer);
  }, [mark, isFetching, refetch]);
  return query;
}

/** All of what a step came to. It stays while it is closed, so that it can give the focus back to where it was opened. */
function StepDialog({ opened, step, onClose }: { opened: boolean; step: ExecutionStep | null; onClose: () => void }) {
  const name = step && stepName(step);
  const kind = step && stepKindWords[step.kind].toLowerCase();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={step && `${partOf(step)}, ${kind}${name === null ? '' : ` “${name}”`}`}
      size="lg"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {step && <StepDetail step={step} />}
    </Modal>
  );
}

const partOf = (step: ExecutionStep): string => `${step.error ? 'Error' : 'Result'} of step ${step.position}`;

function StepDetail({ step }: { step: ExecutionStep }) {
  const { error, result = null } = step;
  if (!error) {
    return (
      <>
        <JsonView value={result} label={`${partOf(step)}, JSON`} />
        <div className="dialog-actions">
          <CopyButton text={JSON.stringify(result, null, 2)} label="Copy result" />
        </div>
      </>
    );
  }
  return (
    <>
      <p className="strong">{error.type}</p>
      <p className="step-message">{error.message}</p>
      <p className="mute">{error.retryable ? 'retryable' : 'not retryable'}</p>
      {error.stack != null && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <pre className="code mt" tabIndex={0} role="region" aria-label="Stack of the error">
          {error.stack}
        </pre>
      )}
    </>
  );
}
