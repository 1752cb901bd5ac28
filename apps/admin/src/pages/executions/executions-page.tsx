import { Button } from '@mantine/core';
import { IconPlayerPlay, IconPlus, IconX } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { ExecutionFilter, ExecutionsQuery, ExecutionState } from '../../api/generated/graphql.ts';
import { useSubscription } from '../../api/live.ts';
import { FIRST_PAGE, neighbours, pageArgs, type PagePlace } from '../../api/paging.ts';
import { noticeServerTime } from '../../api/server-clock.ts';
import { usePermission } from '../../api/viewer.ts';
import { usePollWhenStale } from '../../api/polling.ts';
import { countAtLeast } from '../../format.ts';
import { usePage } from '../../hooks/use-page.ts';
import { toggled, useUrlState } from '../../hooks/use-url-state.ts';
import { paths } from '../../paths.ts';
import { PARKED, status } from '../../status.ts';
import { useFollow } from '../../ui/anchor.tsx';
import { FilterBar, type FilterOption } from '../../ui/filter-bar.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Count, PageHead } from '../../ui/layout.tsx';
import { PermittedButton } from '../../ui/permitted.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { ListRows, TableFoot } from '../../ui/table.tsx';
import { EmptyView, ErrorView, NoMatchView, SkeletonRows } from '../../ui/view-states.tsx';
import { choice, choices, text } from '../../url-state.ts';
import {
  applyToQuery,
  type ExecutionCountsFragment,
  hasFilter,
  type ListState,
  PAGE_SIZE,
  toFilter,
} from './execution-list.ts';
import { ExecutionCountsDocument, ExecutionsDocument, ExecutionsLiveDocument } from './execution-queries.ts';
import { ExecutionsTable } from './executions-table.tsx';

const STATES = [
  'PENDING',
  'SCHEDULED',
  'CLAIMED',
  'RUNNING',
  'PAUSED',
  'RESUMING',
  'CANCELLING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
] as const;

/** States that pass in a moment are offered only while something is in them. */
const PASSING: ReadonlySet<ExecutionState> = new Set(['SCHEDULED', 'CLAIMED', 'PAUSED', 'RESUMING', 'CANCELLING']);

const SHAPE = {
  q: text(),
  state: choices(STATES),
  parked: choice(['', '1'], ''),
  workflow: text(),
  deployment: text(),
  variant: text(),
  worker: text(),
  role: text(),
  session: text(),
  after: text(),
  before: text(),
};

const NO_FILTER = {
  q: '',
  state: [],
  parked: '',
  workflow: '',
  deployment: '',
  variant: '',
  worker: '',
  role: '',
  session: '',
} as const;

const NARROWED = ['workflow', 'deployment', 'variant', 'worker', 'role', 'session'] as const;

export function ExecutionsPage() {
  usePage([{ name: 'Executions' }]);
  const [state, set] = useUrlState(SHAPE);
  const follow = useFollow();
  const need = usePermission('deployment:{slug}:run', 'workflow:{namespace}:{name}:run');
  const filter = useMemo(() => toFilter(state), [state]);
  const query = useLiveExecutions(filter, state);
  const page = query.data?.executions;
  const near = page && neighbours(state, page.pageInfo);
  const narrow = (patch: Partial<typeof state>, how?: 'push' | 'replace'): void =>
    set({ ...patch, ...FIRST_PAGE }, how);
  return (
    <>
      <PageHead
        title={
          <>
            Executions
            {page && !query.isPlaceholderData && <Count>{countAtLeast(page.totalCount, page.totalCountExact)}</Count>}
          </>
        }
        meta="Newest first. Every one links to the decision that placed it."
        actions={
          <PermittedButton
            need={need}
            variant="filled"
            leftSection={<Glyph icon={IconPlus} />}
            onClick={() => follow(paths.executionNew(state.deployment === '' ? {} : { deployment: state.deployment }))}
          >
            Start an execution
          </PermittedButton>
        }
      />
      <StateFilter state={state} onChange={narrow} />
      <div className="tools">
        <SearchField
          label="Search executions"
          placeholder="Id prefix, or a session key"
          value={state.q}
          onSearch={(q) => narrow({ q }, 'replace')}
        />
        {NARROWED.filter((name) => state[name] !== '').map((name) => (
          <Button
            key={name}
            rightSection={<Glyph icon={IconX} size={14} />}
            aria-label={`${name} ${state[name]}, remove filter`}
            onClick={() => narrow({ [name]: '' })}
          >
            {name} {state[name]}
          </Button>
        ))}
      </div>
      <div className="panel">
        {query.isPending ? (
          <SkeletonRows label="executions" rows={12} />
        ) : !page || !near ? (
          query.error && (
            <ErrorView what="Executions could not be read" failure={query.error} onRetry={() => void query.refetch()} />
          )
        ) : page.nodes.length > 0 ? (
          <ListRows replaced={query.isPlaceholderData} label="executions">
            <ExecutionsTable rows={page.nodes} />
            <TableFoot
              busy={query.isPlaceholderData}
              onPrevious={near.previous && (() => set(near.previous ?? FIRST_PAGE))}
              onNext={near.next && (() => set(near.next ?? FIRST_PAGE))}
            >
              {countAtLeast(page.totalCount, page.totalCountExact)} {page.totalCount === 1 ? 'execution' : 'executions'}
            </TableFoot>
          </ListRows>
        ) : query.isPlaceholderData ? (
          <SkeletonRows label="executions" rows={12} />
        ) : hasFilter(filter) ? (
          <NoMatchView onClear={() => narrow(NO_FILTER)}>No execution matches all of them.</NoMatchView>
        ) : (
          <NothingYet />
        )}
      </div>
    </>
  );
}

function NothingYet() {
  const follow = useFollow();
  return (
    <EmptyView
      icon={IconPlayerPlay}
      title="Nothing has run yet"
      actions={<Button onClick={() => follow(paths.executionNew())}>Start the first one</Button>}
    >
      <p>An execution is one request to run a workflow. It appears here at once and says why it went where it went.</p>
    </EmptyView>
  );
}

/** The states with their counts; parked is a flag on top of them, so it stands beside the strip. */
function StateFilter({ state, onChange }: { state: ListState; onChange: (patch: Partial<ListState>) => void }) {
  const unfiltered = useMemo(() => toFilter({ ...state, state: [], parked: '' }), [state]);
  const counts = useCounts(unfiltered);
  const parked = counts && [...counts.values()].reduce((sum, each) => sum + each.parked, 0);
  const options: FilterOption<ExecutionState | 'PARKED'>[] = STATES.map((value) => ({
    value,
    look: status.execution[value],
    count: counts && (counts.get(value)?.count ?? 0),
  })).filter(({ value, count }) => !PASSING.has(value) || (count ?? 0) > 0 || state.state.includes(value));
  return (
    <FilterBar
      label="Filter by state"
      options={options.toSpliced(1, 0, { value: 'PARKED', look: PARKED, count: parked, aside: true })}
      selected={state.parked === '1' ? [...state.state, 'PARKED'] : state.state}
      onToggle={(value) =>
        onChange(
          value === 'PARKED' ? { parked: state.parked === '1' ? '' : '1' } : { state: toggled(state.state, value) },
        )
      }
    />
  );
}

/** One page of the list, live: rows change in place, new ones come in at the top of the first page. */
function useLiveExecutions(filter: ExecutionFilter, place: PagePlace) {
  const client = useQueryClient();
  const variables = { ...pageArgs(place, PAGE_SIZE), filter };
  const key = ['executions', variables];
  const first = place.after === '' && place.before === '';
  const tick = useRef(0);
  const query = useQuery<ExecutionsQuery, ApiError>({
    queryKey: key,
    queryFn: ({ signal }) => execute(ExecutionsDocument, variables, { signal }),
    // What happened while the page was away came over no subscription.
    staleTime: 0,
    placeholderData: keepPreviousData,
    refetchInterval: usePollWhenStale(),
  });
  useSubscription(
    ExecutionsLiveDocument,
    { filter },
    {
      next: ({ executionChanges }) => {
        noticeServerTime(executionChanges.at);
        client.setQueryData<ExecutionsQuery>(
          key,
          (old) => old && applyToQuery(old, { ...executionChanges, items: executionChanges.executions }, first),
        );
        // Counts are read again at most every two seconds, and only because something changed.
        if (executionChanges.kind !== 'SNAPSHOT' && Date.now() - tick.current > 2_000) {
          tick.current = Date.now();
          setTimeout(() => void client.invalidateQueries({ queryKey: ['execution-counts'] }), 500);
        }
      },
    },
  );
  return query;
}

/** Counts by state; null: not read. */
function useCounts(filter: ExecutionFilter): ReadonlyMap<ExecutionState, ExecutionCountsFragment> | null {
  const { data } = useQuery({
    queryKey: ['execution-counts', filter],
    queryFn: ({ signal }) => execute(ExecutionCountsDocument, { filter }, { signal }),
    staleTime: 0,
    placeholderData: keepPreviousData,
    refetchInterval: usePollWhenStale(),
  });
  return useMemo(() => (data ? new Map(data.executionCounts.map((each) => [each.state, each])) : null), [data]);
}
