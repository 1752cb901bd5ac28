import { IconPlayerPlay, IconScale } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { WorkerDecisionsQuery, WorkerExecutionsQuery } from '../../api/generated/graphql.ts';
import { countAtLeast, duration, score, shortId } from '../../format.ts';
import { paths } from '../../paths.ts';
import { executionLook, status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { Panel, Scroll } from '../../ui/layout.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { ListRows, TableFoot } from '../../ui/table.tsx';
import { EmptyView, ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { WorkerDecisionsDocument, WorkerExecutionsDocument } from './worker-queries.ts';

/** Cursors of the pages before this one; the last is this page's. */
function useCursors() {
  const [cursors, setCursors] = useState<readonly (string | null)[]>([null]);
  return {
    after: cursors.at(-1) ?? null,
    previous: cursors.length > 1 ? () => setCursors(cursors.slice(0, -1)) : null,
    next: (cursor: string | null | undefined) => (cursor ? () => setCursors([...cursors, cursor]) : null),
  };
}

/** Reads again whenever `mark` changes; the rows stay meanwhile. */
function useReadAgain(mark: number, read: () => unknown): void {
  const before = useRef(mark);
  useEffect(() => {
    if (before.current === mark) return;
    before.current = mark;
    read();
  }, [mark, read]);
}

/** `load` changes when something was assigned or ended, which is when the list must be read again. */
export function WorkerExecutions({ name, load }: { name: string; load: number }) {
  const cursors = useCursors();
  const query = useQuery<WorkerExecutionsQuery, ApiError>({
    queryKey: ['worker', name, 'executions', cursors.after],
    queryFn: ({ signal }) => execute(WorkerExecutionsDocument, { name, after: cursors.after }, { signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  useReadAgain(load, query.refetch);
  const page = query.data?.worker?.executions;
  return (
    <Panel title="Executions" count={page && countAtLeast(page.totalCount, page.totalCountExact)} flush>
      {query.isPending ? (
        <SkeletonRows label="executions" />
      ) : !page ? (
        <ErrorView
          what="Executions could not be read"
          failure={query.error ?? { code: 'NOT_FOUND', message: 'The worker is gone.', requestId: null }}
          onRetry={() => void query.refetch()}
        />
      ) : page.nodes.length === 0 ? (
        <EmptyView icon={IconPlayerPlay} title="Nothing has run here yet" />
      ) : (
        <ListRows replaced={query.isPlaceholderData} label="executions">
          <Scroll label="Executions of this worker, table">
            <table className="tb">
              <thead>
                <tr>
                  <th scope="col">Execution</th>
                  <th scope="col">State</th>
                  <th scope="col">What</th>
                  <th scope="col" className="r">
                    Ran
                  </th>
                  <th scope="col" className="r">
                    Created
                  </th>
                </tr>
              </thead>
              <tbody>
                {page.nodes.map((execution) => (
                  <tr key={execution.id}>
                    <th scope="row">
                      <Anchor className="mono" href={paths.execution(execution.id)}>
                        {shortId(execution.id)}
                      </Anchor>
                    </th>
                    <td>
                      <StatusBadge look={executionLook(execution)} />
                    </td>
                    <td>
                      {execution.deployment
                        ? `${execution.deployment.slug} / ${execution.variantLabel ?? ''}`
                        : execution.workflowRef}
                    </td>
                    <td className="r">
                      {execution.startedAt && execution.finishedAt
                        ? duration(Date.parse(execution.finishedAt) - Date.parse(execution.startedAt))
                        : '–'}
                    </td>
                    <td className="r mute">
                      <Ago at={execution.createdAt} suffix />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <TableFoot
            busy={query.isPlaceholderData}
            onPrevious={cursors.previous}
            onNext={page.pageInfo.hasNextPage ? cursors.next(page.pageInfo.endCursor) : null}
          >
            Newest first
          </TableFoot>
        </ListRows>
      )}
    </Panel>
  );
}

export function WorkerDecisions({ name, load }: { name: string; load: number }) {
  const cursors = useCursors();
  const query = useQuery<WorkerDecisionsQuery, ApiError>({
    queryKey: ['worker', name, 'decisions', cursors.after],
    queryFn: ({ signal }) => execute(WorkerDecisionsDocument, { name, after: cursors.after }, { signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  useReadAgain(load, query.refetch);
  const page = query.data?.worker?.decisions;
  return (
    <Panel title="Decisions" aside="won, or considered for" flush>
      {query.isPending ? (
        <SkeletonRows label="decisions" />
      ) : !page ? (
        <ErrorView
          what="Decisions could not be read"
          failure={query.error ?? { code: 'NOT_FOUND', message: 'The worker is gone.', requestId: null }}
          onRetry={() => void query.refetch()}
        />
      ) : page.nodes.length === 0 ? (
        <EmptyView icon={IconScale} title="No decision has considered this worker yet" />
      ) : (
        <ListRows replaced={query.isPlaceholderData} label="decisions">
          <Scroll label="Decisions about this worker, table">
            <table className="tb">
              <thead>
                <tr>
                  <th scope="col">Decision</th>
                  <th scope="col">Outcome</th>
                  <th scope="col">Winner</th>
                  <th scope="col" className="r">
                    Margin
                  </th>
                  <th scope="col">Why</th>
                  <th scope="col" className="r">
                    Age
                  </th>
                </tr>
              </thead>
              <tbody>
                {page.nodes.map((decision) => (
                  <tr key={decision.id}>
                    <th scope="row">
                      <Anchor className="mono" href={paths.decision(decision.id)}>
                        {shortId(decision.id)}
                      </Anchor>
                    </th>
                    <td>
                      <StatusBadge look={status.decision[decision.outcome]} />
                    </td>
                    <td>{decision.winner ?? <span className="mute">nobody</span>}</td>
                    <td className="r mute">{decision.margin == null ? '–' : `+${score(decision.margin)}`}</td>
                    <td>
                      <span className="why-cell">{decision.explanation[0] ?? '–'}</span>
                    </td>
                    <td className="r mute">
                      <Ago at={decision.at} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <TableFoot
            busy={query.isPlaceholderData}
            onPrevious={cursors.previous}
            onNext={page.pageInfo.hasNextPage ? cursors.next(page.pageInfo.endCursor) : null}
          >
            Newest first
          </TableFoot>
        </ListRows>
      )}
    </Panel>
  );
}
