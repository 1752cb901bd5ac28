import { useQuery } from '@tanstack/react-query';
import { type ApiError, execute } from '../../api/client.ts';
import type { ExecutionWaitQuery } from '../../api/generated/graphql.ts';
import { plural } from '../../format.ts';
import { paths } from '../../paths.ts';
import { DEGRADED_DECISION, rejectionWords } from '../../status.ts';
import { Ago, At } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { Banner } from '../../ui/banner.tsx';
import { Panel, Scroll } from '../../ui/layout.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { type ExecutionDetail, ExecutionWaitDocument } from './execution-queries.ts';

/** Bullets under the lead sentence; more is on the decision's page. */
const BULLETS = 3;
/** Nearest misses shown while something waits. */
const MISSES = 6;

/** Why it is where it is: the API's own sentences, unchanged. */
export function WhyHere({ execution }: { execution: ExecutionDetail }) {
  const decision = execution.latestDecision;
  return (
    <Panel
      title="Why here"
      className="why"
      aside={
        decision && (
          <>
            {decision.degraded != null && <StatusBadge look={DEGRADED_DECISION} />}
            <Anchor className="l" href={paths.decision(decision.id)}>
              Open decision
            </Anchor>
          </>
        )
      }
    >
      <p className="lead">{execution.why}</p>
      {decision && (
        <ul>
          {decision.explanation
            .filter((sentence) => sentence !== execution.why)
            .slice(0, BULLETS)
            .map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
        </ul>
      )}
    </Panel>
  );
}

/** Parked: since when, why, and what happens if nothing changes. */
export function ParkedBanner({ execution }: { execution: ExecutionDetail }) {
  return (
    <Banner tone="warn" title={`Parked: ${execution.parkedReason ?? 'no worker is eligible'}`}>
      {execution.parkedSince && (
        <>
          Since <At at={execution.parkedSince} /> (<Ago at={execution.parkedSince} />
          ).{' '}
        </>
      )}
      {execution.parkDeadline ? (
        <>
          It fails at <At at={execution.parkDeadline} /> if nobody can take it until then.
        </>
      ) : (
        'It waits until somebody can take it.'
      )}
    </Banner>
  );
}

/** Evaluated now, with all reasons per worker. Read again whenever the execution changes. */
export function WhyWaitingPanel({ execution }: { execution: ExecutionDetail }) {
  const query = useQuery<ExecutionWaitQuery, ApiError>({
    queryKey: ['execution', execution.id, 'waiting', execution.revision],
    queryFn: ({ signal }) => execute(ExecutionWaitDocument, { id: execution.id }, { signal }),
    placeholderData: (old) => old,
  });
  const waiting = query.data?.execution?.whyWaiting;
  if (query.isSuccess && !waiting) return null;
  return (
    <Panel
      title="Nearest misses"
      aside={waiting ? `${plural(waiting.rejectedCount, 'worker')} left out, as of now` : null}
      flush
    >
      {query.isPending ? (
        <SkeletonRows label="the nearest misses" rows={4} />
      ) : !waiting ? (
        query.error && (
          <ErrorView what="The reasons could not be read" failure={query.error} onRetry={() => void query.refetch()} />
        )
      ) : waiting.candidates.length === 0 ? (
        <p className="note">{waiting.reason ?? 'No worker is registered.'}</p>
      ) : (
        <Scroll label="Nearest misses, table">
          <table className="tb">
            <thead>
              <tr>
                <th scope="col">Worker</th>
                <th scope="col">Role</th>
                <th scope="col">Left out by</th>
                <th scope="col">Because</th>
              </tr>
            </thead>
            <tbody>
              {waiting.candidates.slice(0, MISSES).map((candidate) => (
                <tr key={candidate.worker}>
                  <th scope="row">
                    <Anchor href={paths.worker(candidate.worker)}>{candidate.worker}</Anchor>
                  </th>
                  <td className="mute">{candidate.role}</td>
                  <td className="wrap narrow">
                    {candidate.rejections.map((each) => rejectionWords[each.reason]).join(', ') || 'nothing'}
                  </td>
                  <td className="wrap">
                    {candidate.rejections.map((each) => each.message).join('; ') || candidate.rejectedBecause || '–'}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}
