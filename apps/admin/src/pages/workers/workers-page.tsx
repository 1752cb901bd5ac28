import { Button, Modal, Select } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconServer, IconTerminal2 } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import type { WorkerFilter } from '../../api/generated/graphql.ts';
import { freeze, useLiveView } from '../../api/live.ts';
import { useRoles } from '../../api/roles.ts';
import { count, plural } from '../../format.ts';
import { isFilling, useLiveList } from '../../hooks/use-live-list.ts';
import { usePage } from '../../hooks/use-page.ts';
import { toggled, useUrlState } from '../../hooks/use-url-state.ts';
import { status } from '../../status.ts';
import { Command } from '../../ui/copy.tsx';
import { FilterBar, type FilterOption } from '../../ui/filter-bar.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Count, PageHead } from '../../ui/layout.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { TableFoot } from '../../ui/table.tsx';
import { EmptyView, ErrorView, NoMatchView, SkeletonRows } from '../../ui/view-states.tsx';
import { choice, choices, sort, type StateOf, text, texts } from '../../url-state.ts';
import { countWorkers, matchesStatus, readWorkerSearch, sortWorkers, toLabels } from './worker-filter.ts';
import { loadWorkers, type WorkerRow, WorkersLiveDocument } from './worker-queries.ts';
import { WorkersTable } from './workers-table.tsx';

const STATUSES = ['HEALTHY', 'UNHEALTHY', 'STALE', 'OFFLINE'] as const;
const AVAILABILITIES = ['CORDONED', 'DRAINING'] as const;
const PAGE = 100;
const START = 'SERVICE_ROLE=worker npx muster worker start ./workflows.ts --name w-1';

const NOBODY: readonly WorkerRow[] = [];

const SHAPE = {
  q: text(),
  label: texts(),
  status: choices(STATUSES),
  availability: choices(AVAILABILITIES),
  role: text(),
  version: text(),
  sort: sort(['name', 'role', 'load', 'lastSeen'], { by: 'name', descending: false }),
  page: text('1'),
  start: choice(['0', '1'], '0'),
};

type WorkersState = StateOf<typeof SHAPE>;
type Patch = (patch: Partial<WorkersState>, how?: 'push' | 'replace') => void;

/** What narrows the list on the server; status and availability are filtered here, so that their counts stay whole. */
function serverFilter(state: WorkersState): WorkerFilter {
  return {
    ...(state.q !== '' && { search: state.q }),
    ...(state.label.length > 0 && { labels: toLabels(state.label) }),
    ...(state.role !== '' && { roles: [state.role] }),
    ...(state.version !== '' && { versions: [state.version] }),
  };
}

/** The live fleet. */
export function WorkersPage() {
  usePage([{ name: 'Workers' }]);
  const [state, set] = useUrlState(SHAPE);
  const [joined, setJoined] = useState(0);
  const filter = useMemo(() => serverFilter(state), [state]);
  const query = useLiveList(
    {
      key: ['workers', filter],
      load: (signal) => loadWorkers(filter, signal),
      document: WorkersLiveDocument,
      variables: { filter },
      change: ({ workerEvents }) => ({ ...workerEvents, items: workerEvents.workers }),
      idOf: (worker) => worker.id,
    },
    true,
    (change) => {
      if (change.kind === 'ADDED') setJoined(change.items.length);
    },
  );
  const all = query.data?.items ?? NOBODY;
  const rows = useMemo(
    () =>
      sortWorkers(
        all.filter((row) => matchesStatus(row, state.status, state.availability)),
        state.sort,
      ),
    [all, state.status, state.availability, state.sort],
  );
  const filtered = Object.keys(filter).length > 0 || state.status.length > 0 || state.availability.length > 0;
  return (
    <>
      <Head all={query.data ? all : null} failed={query.isError} onStart={() => set({ start: '1' })} />
      <StatusFilter all={query.data ? all : null} state={state} onChange={set} />
      <Tools all={all} state={state} onChange={set} />
      <span className="sr" role="status">
        {joined > 0 ? `${plural(joined, 'worker')} joined` : ''}
      </span>
      <div className="panel">
        {isFilling(query) ? (
          <SkeletonRows label="workers" rows={10} />
        ) : query.isError && !query.data ? (
          <ErrorView what="Workers could not be read" failure={query.error} onRetry={() => void query.refetch()} />
        ) : rows.length > 0 ? (
          <Rows rows={rows} all={all.length} state={state} onChange={set} />
        ) : filtered ? (
          <NoMatchView
            onClear={() => set({ q: '', label: [], status: [], availability: [], role: '', version: '', page: '1' })}
          >
            No worker has all of them.
          </NoMatchView>
        ) : (
          <EmptyView icon={IconServer} title="No worker has said hello yet">
            <p>Start one; it appears here within two seconds. Any language works.</p>
            <Command text={START} />
          </EmptyView>
        )}
      </div>
      {state.start === '1' && (
        <Modal
          opened
          onClose={() => set({ start: '0' })}
          title="Start a worker"
          size="lg"
          centered
          closeButtonProps={{ 'aria-label': 'Close' }}
        >
          <p>
            A worker is a process that takes executions. It announces the role in SERVICE_ROLE and appears here within
            two seconds.
          </p>
          <Command text={START} />
        </Modal>
      )}
    </>
  );
}

/** `all` null: not read yet. */
function Head({ all, failed, onStart }: { all: readonly WorkerRow[] | null; failed: boolean; onStart: () => void }) {
  const { status: connection } = useLiveView();
  const roles = useRoles();
  const healthyRoles = roles.data?.items.filter((role) => role.healthy).length ?? 0;
  const frozen = connection === 'PAUSED';
  return (
    <PageHead
      title={<>Workers{all && <Count>{count(all.length)}</Count>}</>}
      meta={
        all
          ? `${countWorkers(all).HEALTHY} healthy; ${plural(healthyRoles, 'role')} with a healthy worker.`
          : failed
            ? 'The fleet could not be read.'
            : 'Reading the fleet.'
      }
      actions={
        <>
          <Button
            leftSection={<Glyph icon={frozen ? IconPlayerPlay : IconPlayerPause} />}
            rightSection={<kbd>.</kbd>}
            onClick={() => freeze(!frozen)}
          >
            {frozen ? 'Go on' : 'Freeze'}
          </Button>
          <Button leftSection={<Glyph icon={IconTerminal2} />} onClick={onStart}>
            Start a worker
          </Button>
        </>
      }
    />
  );
}

function StatusFilter({
  all,
  state,
  onChange,
}: {
  all: readonly WorkerRow[] | null;
  state: WorkersState;
  onChange: Patch;
}) {
  const counts = all && countWorkers(all);
  const options: FilterOption<(typeof STATUSES)[number] | (typeof AVAILABILITIES)[number]>[] = [
    ...STATUSES.map((value) => ({ value, look: status.worker[value], count: counts && counts[value] })),
    ...AVAILABILITIES.map((value) => ({
      value,
      look: status.availability[value],
      count: counts && counts[value],
      aside: true,
    })),
  ];
  return (
    <FilterBar
      label="Filter by status"
      options={options}
      selected={[...state.status, ...state.availability]}
      onToggle={(value) =>
        value === 'CORDONED' || value === 'DRAINING'
          ? onChange({ availability: toggled(state.availability, value), page: '1' })
          : onChange({ status: toggled(state.status, value), page: '1' })
      }
    />
  );
}

function Tools({ all, state, onChange }: { all: readonly WorkerRow[]; state: WorkersState; onChange: Patch }) {
  const roles = useRoles();
  const versions = [...new Set([...all.map((row) => row.version), state.version])]
    .filter((each) => each !== '')
    .toSorted();
  return (
    <div className="tools">
      <SearchField
        label="Search workers"
        placeholder="Name, host, or label like region=eu"
        value={searchText(state.label, state.q)}
        normalise={normalised}
        onSearch={(typed) => {
          const { q, labels } = readWorkerSearch(typed);
          onChange({ q, label: labels, page: '1' }, 'replace');
        }}
      />
      <Select
        aria-label="Role"
        placeholder="Role: any"
        w={150}
        clearable
        searchable
        data={(roles.data?.items ?? []).map((role) => role.role).toSorted()}
        value={state.role === '' ? null : state.role}
        onChange={(role) => onChange({ role: role ?? '', page: '1' })}
      />
      <Select
        aria-label="Version"
        placeholder="Version: any"
        w={140}
        clearable
        data={versions}
        value={state.version === '' ? null : state.version}
        onChange={(version) => onChange({ version: version ?? '', page: '1' })}
      />
    </div>
  );
}

function Rows({
  rows,
  all,
  state,
  onChange,
}: {
  rows: readonly WorkerRow[];
  all: number;
  state: WorkersState;
  onChange: Patch;
}) {
  const pages = Math.ceil(rows.length / PAGE);
  const page = Math.min(pages, Math.max(1, Number.parseInt(state.page, 10) || 1));
  return (
    <>
      <WorkersTable
        rows={rows.slice((page - 1) * PAGE, page * PAGE)}
        sort={state.sort}
        onSort={(sort) => onChange({ sort })}
      />
      <TableFoot
        onPrevious={page > 1 ? () => onChange({ page: String(page - 1) }) : null}
        onNext={page < pages ? () => onChange({ page: String(page + 1) }) : null}
      >
        {rows.length === all ? plural(all, 'worker') : `${count(rows.length)} of ${plural(all, 'worker')}`}
      </TableFoot>
    </>
  );
}

/** Labels first, then the text: how a search comes back from the address. */
function searchText(labels: readonly string[], q: string): string {
  return [...labels, q].filter((part) => part !== '').join(' ');
}

function normalised(typed: string): string {
  const { q, labels } = readWorkerSearch(typed);
  return searchText(labels, q);
}
