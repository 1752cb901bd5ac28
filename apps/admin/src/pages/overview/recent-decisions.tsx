import { useQuery, useQueryClient } from '@tanstack/react-query';
import { IconScale } from '@tabler/icons-react';
import { type ApiError, execute } from '../../api/client.ts';
import type { RecentDecisionsQuery } from '../../api/generated/graphql.ts';
import { useSubscription } from '../../api/live.ts';
import { usePollWhenStale } from '../../api/polling.ts';
import { score, shortId } from '../../format.ts';
import { paths } from '../../paths.ts';
import { DEGRADED_DECISION, status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { Panel, Scroll } from '../../ui/layout.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { EmptyView, ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { DecisionsLiveDocument, type RecentDecision, RecentDecisionsDocument } from './overview-queries.ts';

const SHOWN = 10;
const KEY = ['recent-decisions'];

/** The last decisions as they are made. */
export function RecentDecisions() {
  const client = useQueryClient();
  const query = useQuery<RecentDecisionsQuery, ApiError>({
    queryKey: KEY,
    queryFn: ({ signal }) => execute(RecentDecisionsDocument, {}, { signal }),
    refetchInterval: usePollWhenStale(),
  });
  useSubscription(
    DecisionsLiveDocument,
    {},
    {
      next: ({ dispatchDecisions: decision }) =>
        client.setQueryData<RecentDecisionsQuery>(KEY, (old) => {
          if (!old || old.decisions.nodes.some((each) => each.id === decision.id)) return old;
          return { decisions: { nodes: [decision, ...old.decisions.nodes].slice(0, SHOWN) } };
        }),
    },
  );
  const rows = query.data?.decisions.nodes;
  return (
    <Panel
      title="Recent decisions"
      className="decisions-panel"
      flush
      aside={
        <Anchor className="l" href={paths.executions()}>
          All executions
        </Anchor>
      }
    >
      {query.isPending ? (
        <SkeletonRows label="recent decisions" rows={6} />
      ) : !rows ? (
        query.error && (
          <ErrorView what="Decisions could not be read" failure={query.error} onRetry={() => void query.refetch()} />
        )
      ) : rows.length === 0 ? (
        <EmptyView icon={IconScale} title="No decision yet">
          <p>Every dispatch is recorded with its reasons; the newest appear here.</p>
        </EmptyView>
      ) : (
        <Scroll label="Recent decisions, table">
          <table className="tb decisions">
            <thead>
              <tr>
                <th scope="col" className="c-outcome">
                  Outcome
                </th>
                <th scope="col" className="c-execution">
                  Execution
                </th>
                <th scope="col" className="c-worker">
                  Worker
                </th>
                <th scope="col">Why</th>
                <th scope="col" className="r c-margin">
                  Margin
                </th>
                <th scope="col" className="r c-eligible">
                  Eligible
                </th>
                <th scope="col" className="r c-age">
                  Age
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={row.id} row={row} />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

function Row({ row }: { row: RecentDecision }) {
  return (
    <tr>
      <td>
        <StatusBadge look={row.degraded != null ? DEGRADED_DECISION : status.decision[row.outcome]} />
      </td>
      <td className="c-execution">
        {row.execution ? (
          <Anchor className="mono" href={paths.execution(row.execution.id)}>
            {shortId(row.execution.id)}
          </Anchor>
        ) : (
          <span className="mute">–</span>
        )}
      </td>
      <td>
        {row.winner ? (
          <Anchor href={paths.worker(row.winner)}>{row.winner}</Anchor>
        ) : (
          <span className="mute">nobody</span>
        )}
      </td>
      <td>
        <Anchor className="why-cell" href={paths.decision(row.id)} title={row.explanation[0]}>
          {row.explanation[0] ?? row.method}
        </Anchor>
      </td>
      <td className="r mute c-margin">
        {row.margin == null ? '–' : row.tieBreak === 'NONE' ? `+${score(row.margin)}` : 'tie'}
      </td>
      <td className="r c-eligible">
        {row.eligibleCount} of {row.eligibleCount + row.rejectedCount}
      </td>
      <td className="r mute">
        <Ago at={row.at} />
      </td>
    </tr>
  );
}
