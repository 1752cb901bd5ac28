import { duration, shortId } from '../../format.ts';
import { useServerNow } from '../../hooks/use-server-now.ts';
import { paths } from '../../paths.ts';
import { status, type StatusLook } from '../../status.ts';
import { Anchor } from '../../ui/anchor.tsx';
import { Panel, Scroll } from '../../ui/layout.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import type { ExecutionDetail } from './execution-queries.ts';

/** One that is not over and not claimed yet is scheduled, no more. */
function lookOf(attempt: ExecutionDetail['attempts'][number]): StatusLook {
  return attempt.outcome === 'RUNNING' && attempt.claimedAt == null
    ? status.execution.SCHEDULED
    : status.attempt[attempt.outcome];
}

/** Tries, newest first, each with its own decision. */
export function Attempts({ attempts }: { attempts: ExecutionDetail['attempts'] }) {
  const now = useServerNow();
  return (
    <Panel title="Attempts" count={attempts.length} flush>
      <Scroll label="Attempts, table">
        <table className="tb">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">Worker</th>
              <th scope="col">Outcome</th>
              <th scope="col" className="r">
                To claim
              </th>
              <th scope="col" className="r">
                Ran
              </th>
              <th scope="col" className="r">
                Generation
              </th>
              <th scope="col">Decision</th>
            </tr>
          </thead>
          <tbody>
            {attempts.map((attempt) => (
              <tr key={attempt.generation}>
                <td>{attempt.number}</td>
                <td>
                  <Anchor className="n" href={paths.worker(attempt.worker)}>
                    {attempt.worker}
                  </Anchor>
                </td>
                <td className="wrap">
                  <StatusBadge look={lookOf(attempt)} />
                  {attempt.error && <span className="rsn">{attempt.error.message}</span>}
                </td>
                <td className="r">
                  {attempt.claimedAt ? duration(Date.parse(attempt.claimedAt) - Date.parse(attempt.scheduledAt)) : '–'}
                </td>
                <td className="r">
                  {attempt.claimedAt
                    ? duration(
                        Math.max(
                          0,
                          (attempt.endedAt ? Date.parse(attempt.endedAt) : now) - Date.parse(attempt.claimedAt),
                        ),
                      )
                    : '–'}
                </td>
                <td className="r mute">{attempt.generation}</td>
                <td>
                  {attempt.decision ? (
                    <Anchor className="l mono" href={paths.decision(attempt.decision.id)}>
                      {shortId(attempt.decision.id)}
                    </Anchor>
                  ) : (
                    <span className="mute">–</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Panel>
  );
}
