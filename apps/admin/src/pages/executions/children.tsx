import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ApiError, execute } from '../../api/client.ts';
import type { ExecutionChildrenQuery } from '../../api/generated/graphql.ts';
import { useSubscription } from '../../api/live.ts';
import { usePollWhenStale } from '../../api/polling.ts';
import { countAtLeast, shortId } from '../../format.ts';
import { paths } from '../../paths.ts';
import { executionLook } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { Panel, Scroll } from '../../ui/layout.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { ErrorView } from '../../ui/view-states.tsx';
import { ExecutionChildrenDocument, ExecutionTicksDocument } from './execution-queries.ts';

/** The executions that this one has called, newest first; nothing where there are none. */
export function Children({ id }: { id: string }) {
  const client = useQueryClient();
  const key = ['execution', id, 'children'];
  const query = useQuery<ExecutionChildrenQuery, ApiError>({
    queryKey: key,
    queryFn: ({ signal }) => execute(ExecutionChildrenDocument, { id }, { signal }),
    staleTime: 0,
    refetchInterval: usePollWhenStale(),
  });
  useSubscription(
    ExecutionTicksDocument,
    { filter: { parent: id } },
    {
      next: ({ executionChanges }) => {
        if (executionChanges.kind !== 'SNAPSHOT') void client.invalidateQueries({ queryKey: key });
      },
    },
  );
  const children = query.data?.execution?.children;
  if (query.error && !children) {
    return (
      <Panel title="Children" flush>
        <ErrorView what="The children could not be read" failure={query.error} onRetry={() => void query.refetch()} />
      </Panel>
    );
  }
  if (!children || children.nodes.length === 0) return null;
  return (
    <Panel title="Children" count={countAtLeast(children.totalCount, children.totalCountExact)} flush>
      <Scroll label="Children, table">
        <table className="tb">
          <thead>
            <tr>
              <th scope="col">Execution</th>
              <th scope="col">State</th>
              <th scope="col">Workflow</th>
              <th scope="col">Worker</th>
              <th scope="col" className="r">
                Called
              </th>
            </tr>
          </thead>
          <tbody>
            {children.nodes.map((child) => (
              <tr key={child.id}>
                <th scope="row">
                  <Anchor className="mono" href={paths.execution(child.id)} title={child.id}>
                    {shortId(child.id)}
                  </Anchor>
                </th>
                <td>
                  <StatusBadge look={executionLook(child)} />
                </td>
                <td className="mute">{child.workflowRef}</td>
                <td>
                  {child.workerName ? (
                    <Anchor href={paths.worker(child.workerName)}>{child.workerName}</Anchor>
                  ) : (
                    <span className="mute">–</span>
                  )}
                </td>
                <td className="r mute">
                  <Ago at={child.createdAt} suffix />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {children.nodes.length < children.totalCount && (
        <div className="tfoot">The newest {children.nodes.length} are shown</div>
      )}
    </Panel>
  );
}
