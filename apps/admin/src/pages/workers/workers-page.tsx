import { Button, Modal, Select } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay, IconServer, IconTerminal2 } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
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
import { choice, choices, sort, text, texts } from '../../url-state.ts';
import { countWorkers, matchesStatus, readWorkerSearch, sortWorkers, toLabels } from './worker-filter.ts';
import { loadWorkers, WorkersLiveDocument } from './worker-queries.ts';
import { WorkersTable } from './workers-table.tsx';

const STATUSES = ['HEALTHY', 'UNHEALTHY', 'STALE', 'OFFLINE'] as const;
const AVAILABILITIES = ['CORDONED', 'DRAINING'] as const;
const PAGE = 100;
const START = 'SERVICE_ROLE=worker npx muster worker start ./workflows.ts --name w-1';

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

/** The live fleet. What narrows it on the server is in the subscription's filter; status and order are applied here. */
export function WorkersPage() {
  usePage([{ name: 'Workers' }]);
  const [state, set] = useUrlState(SHAPE);
  const { status: connection } = useLiveView();
  const roles = useRoles();
  const [joined, setJoined] = useState(0);
  const filter = useMemo(
    () => ({
      ...(state.q !== '' && { search: state.q }),
      ...(state.label.length > 0 && { labels: toLabels(state.label) }),
      ...(state.role !== '' && { roles: [state.role] }),
      ...(state.version !== '' && { versions: [state.version] }),
    }),
    [state.q, state.label, state.role, state.version],
  );
  const query = useLiveList(
    {
      key: ['workers', filter],
      load: (signal) => loadWorkers(filter, signal),
      document: WorkersLiveDocument,
      variables: { filter },
      change: ({ workerEvents }) => ({ ...workerEvents, items: workerEvents.workers }),
      idOf: (worker) => worker.id,
    },
    (change) => {
      if (change.kind === 'ADDED') setJoined(change.items.length);
    },
  );
  const all = query.data?.items ?? [];
  const counts = countWorkers(all);
  const rows = useMemo(
    () =>
      sortWorkers(
        all.filter((row) => matchesStatus(row, state.status, state.availability)),
        state.sort,
      ),
    [all, state.status, state.availability, state.sort],
  );
  const pages = Math.max(1, Math.ceil(rows.length / PAGE));
  const page = Math.min(pages, Math.max(1, Number.parseInt(state.page, 10) || 1));
  const filtered = Object.keys(filter).length > 0 || state.status.length > 0 || state.availability.length > 0;
  const clear = (): void => set({ q: '', label: [], status: [], availability: [], role: '', version: '', page: '1' });
  const versions = [...new Set(all.map((row) => row.version))].toSorted();
  const healthyRoles = roles.data?.items.filter((role) => role.healthy).length ?? 0;
  const options: FilterOption<(typeof STATUSES)[number] | (typeof AVAILABILITIES)[number]>[] = [
    ...STATUSES.map((value) => ({ value, look: status.worker[value], count: counts[value] })),
    ...AVAILABILITIES.map((value) => ({ value, look: status.availability[value], count: counts[value], aside: true })),
  ];
  return (
    <>
      <PageHead
        title={<>Workers{query.data && <Count>{count(all.length)}</Count>}</>}
        meta={
          query.data
            ? `${counts.HEALTHY} healthy; ${plural(healthyRoles, 'role')} with a healthy worker.`
            : 'Reading the fleet.'
        }
        actions={
          <>
            <Button
              leftSection={<Glyph icon={connection === 'PAUSED' ? IconPlayerPlay : IconPlayerPause} />}
              rightSection={<kbd>.</kbd>}
              onClick={() => freeze(connection !== 'PAUSED')}
            >
              {connection === 'PAUSED' ? 'Go on' : 'Freeze'}
            </Button>
            <Button leftSection={<Glyph icon={IconTerminal2} />} onClick={() => set({ start: '1' })}>
              Start a worker
            </Button>
          </>
        }
      />
      <FilterBar
        label="Filter by status"
        options={options}
        selected={[...state.status, ...state.availability]}
        onToggle={(value) =>
          value === 'CORDONED' || value === 'DRAINING'
            ? set({ availability: toggled(state.availability, value), page: '1' })
            : set({ status: toggled(state.status, value), page: '1' })
        }
      />
      <div className="tools">
        <SearchField
          label="Search workers"
          placeholder="Name, host, or label like region=eu"
          value={searchText(state.label, state.q)}
          normalise={normalised}
          onSearch={(typed) => {
            const { q, labels } = readWorkerSearch(typed);
            set({ q, label: labels, page: '1' }, 'replace');
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
          onChange={(role) => set({ role: role ?? '', page: '1' })}
        />
        <Select
          aria-label="Version"
          placeholder="Version: any"
          w={140}
          clearable
          data={state.version !== '' && !versions.includes(state.version) ? [state.version, ...versions] : versions}
          value={state.version === '' ? null : state.version}
          onChange={(version) => set({ version: version ?? '', page: '1' })}
        />
        <span className="sr" role="status">
          {joined > 0 ? `${plural(joined, 'worker')} joined` : ''}
        </span>
      </div>
      <div className="panel">
        {isFilling(query) ? (
          <SkeletonRows label="workers" rows={10} />
        ) : query.isError && !query.data ? (
          <ErrorView what="Workers could not be read" failure={query.error} onRetry={() => void query.refetch()} />
        ) : rows.length > 0 ? (
          <>
            <WorkersTable
              rows={rows.slice((page - 1) * PAGE, page * PAGE)}
              sort={state.sort}
              onSort={(next) => set({ sort: next })}
            />
            <TableFoot
              onPrevious={page > 1 ? () => set({ page: String(page - 1) }) : null}
              onNext={page < pages ? () => set({ page: String(page + 1) }) : null}
            >
              {rows.length === all.length
                ? plural(all.length, 'worker')
                : `${count(rows.length)} of ${plural(all.length, 'worker')}`}
            </TableFoot>
          </>
        ) : filtered ? (
          <NoMatchView onClear={clear}>No worker has all of them.</NoMatchView>
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

/** Labels first, then the text: how a search comes back from the address. */
function searchText(labels: readonly string[], q: string): string {
  return [...labels, q].filter((part) => part !== '').join(' ');
}

function normalised(typed: string): string {
  const { q, labels } = readWorkerSearch(typed);
  return searchText(labels, q);
}
