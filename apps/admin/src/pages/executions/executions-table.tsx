import { duration, shortId } from '../../format.ts';
import { useServerNow } from '../../hooks/use-server-now.ts';
import { paths } from '../../paths.ts';
import { executionLook } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { Scroll } from '../../ui/layout.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import type { ExecutionRow } from './execution-queries.ts';

export function ExecutionsTable({ rows }: { rows: readonly ExecutionRow[] }) {
  return (
    <Scroll label="Executions, table">
      <table className="tb">
        <caption className="sr">{rows.length} executions, newest first</caption>
        <thead>
          <tr>
            <th scope="col" className="pin">
              Execution
            </th>
            <th scope="col">State</th>
            <th scope="col">What</th>
            <th scope="col">Worker</th>
            <th scope="col">Why</th>
            <th scope="col" className="r">
              Waited
            </th>
            <th scope="col" className="r">
              Ran
            </th>
            <th scope="col" className="r">
              Created
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row" className="pin">
                <Anchor className="mono" href={paths.execution(row.id)} title={row.id}>
                  {shortId(row.id)}
                </Anchor>
              </th>
              <td>
                <StatusBadge look={executionLook(row)} />
              </td>
              <td>
                {row.deployment ? (
                  <>
                    <Anchor href={paths.deployment(row.deployment.slug)}>{row.deployment.slug}</Anchor>
                    <span className="mute"> / {row.variantLabel}</span>
                  </>
                ) : (
                  <Anchor href={paths.workflow(row.workflowRef)}>{row.workflowRef}</Anchor>
                )}
              </td>
              <td>
                {row.workerName ? (
                  <Anchor href={paths.worker(row.workerName)}>{row.workerName}</Anchor>
                ) : (
                  <span className="mute">–</span>
                )}
              </td>
              <td>
                <span className="why-cell" title={row.why}>
                  {row.latestDecision ? (
                    <Anchor href={paths.decision(row.latestDecision.id)}>{row.why}</Anchor>
                  ) : (
                    row.why
                  )}
                </span>
              </td>
              <td className="r mute">
                <Waited row={row} />
              </td>
              <td className="r">
                <Ran row={row} />
              </td>
              <td className="r mute">
                <Ago at={row.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Waited({ row }: { row: ExecutionRow }) {
  const now = useServerNow();
  const until = row.startedAt ?? row.finishedAt;
  return duration(Math.max(0, (until ? Date.parse(until) : now) - Date.parse(row.createdAt)));
}

function Ran({ row }: { row: ExecutionRow }) {
  const now = useServerNow();
  if (!row.startedAt) return <span className="mute">–</span>;
  return duration(Math.max(0, (row.finishedAt ? Date.parse(row.finishedAt) : now) - Date.parse(row.startedAt)));
}
