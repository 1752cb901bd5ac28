import { age } from '../../format.ts';
import { useServerNow } from '../../hooks/use-server-now.ts';
import { paths } from '../../paths.ts';
import { status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { LabelChip } from '../../ui/chips.tsx';
import { Scroll } from '../../ui/layout.tsx';
import { LoadBar } from '../../ui/load-bar.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { SortHead } from '../../ui/table.tsx';
import type { Sort } from '../../url-state.ts';
import { statusReason, type WorkerColumn } from './worker-filter.ts';
import type { WorkerRow } from './worker-queries.ts';
import { useWorkerVerbs, WorkerMenu } from './worker-verbs.tsx';

/** How many labels a row shows; the rest is a count, all of them are on the worker's page. */
const LABELS = 3;

export function WorkersTable({
  rows,
  sort,
  onSort,
}: {
  rows: readonly WorkerRow[];
  sort: Sort<WorkerColumn>;
  onSort: (next: Sort<WorkerColumn>) => void;
}) {
  return (
    <Scroll label="Workers, table">
      <table className="tb wrk">
        <caption className="sr">{rows.length} workers</caption>
        <thead>
          <tr>
            <SortHead column="name" sort={sort} onSort={onSort} className="pin">
              Name
            </SortHead>
            <th scope="col">Status</th>
            <SortHead column="role" sort={sort} onSort={onSort} className="dsk">
              Role
            </SortHead>
            <th scope="col" className="dsk">
              Host
            </th>
            <SortHead column="load" sort={sort} onSort={onSort}>
              Load
            </SortHead>
            <th scope="col">Labels</th>
            <SortHead column="lastSeen" sort={sort} onSort={onSort} className="r">
              Heartbeat
            </SortHead>
            <th scope="col" className="r">
              Version
            </th>
            <th scope="col" className="r">
              Up
            </th>
            <th scope="col">
              <span className="sr">Actions</span>
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
  );
}

function Row({ row }: { row: WorkerRow }) {
  const verbs = useWorkerVerbs(row);
  const reason = statusReason(row);
  const offline = row.status === 'OFFLINE';
  return (
    <tr className={offline ? 'off' : undefined}>
      <th scope="row" className="pin">
        <Anchor href={paths.worker(row.name)}>{row.name}</Anchor>
      </th>
      <td className="keep">
        <StatusBadge look={status.worker[row.status]} tip={reason ?? undefined} />
        {row.availability !== 'ACTIVE' && (
          <span className="avl">
            <StatusBadge look={status.availability[row.availability]} />
          </span>
        )}
        {reason && <span className="rsn">{reason}</span>}
      </td>
      <td className="dsk">{row.role}</td>
      <td className="mute dsk">{row.hostname}</td>
      <td>
        <LoadBar load={row.load} capacity={row.capacity} />
      </td>
      <td>
        {row.labels.slice(0, LABELS).map((label) => (
          <LabelChip key={label.key} name={label.key} value={label.value} />
        ))}
        {row.labels.length > LABELS && <span className="mute small">+{row.labels.length - LABELS}</span>}
      </td>
      <td className="r">
        <Ago at={row.lastSeenAt} />
      </td>
      <td className="r">{row.version}</td>
      <td className="r mute">{offline ? '–' : <Uptime startedAt={row.startedAt} />}</td>
      <td className="r">
        <WorkerMenu worker={row} verbs={verbs} withAvailability />
        {verbs.dialog}
      </td>
    </tr>
  );
}

function Uptime({ startedAt }: { startedAt: string }) {
  return age(useServerNow() - Date.parse(startedAt));
}
