import { Select } from '@mantine/core';
import { IconGitFork, IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type {
  DeploymentFilter,
  DeploymentHealth,
  DeploymentOrder,
  DeploymentsQuery,
} from '../../api/generated/graphql.ts';
import { useDeploymentHealth } from '../../api/deployment-health.ts';
import { FIRST_PAGE, neighbours, pageArgs } from '../../api/paging.ts';
import { useRoles } from '../../api/roles.ts';
import { usePermission } from '../../api/viewer.ts';
import { usePollWhenStale } from '../../api/polling.ts';
import { count, percent, plural } from '../../format.ts';
import { usePage } from '../../hooks/use-page.ts';
import { toggled, useUrlState } from '../../hooks/use-url-state.ts';
import { paths } from '../../paths.ts';
import { status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor, useFollow } from '../../ui/anchor.tsx';
import { AnyRoleChip, RoleChip } from '../../ui/chips.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Count, Dot, PageHead, Scroll } from '../../ui/layout.tsx';
import { PermittedButton } from '../../ui/permitted.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { ListRows, SortHead, TableFoot } from '../../ui/table.tsx';
import { EmptyView, ErrorView, NoMatchView, SkeletonRows } from '../../ui/view-states.tsx';
import { choices, sort, type Sort, type StateOf, text } from '../../url-state.ts';
import { type DeploymentRow, DeploymentsDocument } from './deployment-queries.ts';

const HEALTHS = ['OK', 'DEGRADED', 'UNAVAILABLE'] as const;
const SHAPE = {
  q: text(),
  health: choices(HEALTHS),
  role: text(),
  sort: sort(['slug', 'updated', 'lastExecution'], { by: 'slug', descending: false }),
  after: text(),
  before: text(),
};

type Column = 'slug' | 'updated' | 'lastExecution';
const ORDERS: Record<Column, DeploymentOrder> = { slug: 'SLUG', updated: 'UPDATED', lastExecution: 'LAST_EXECUTION' };

export function DeploymentsPage() {
  usePage([{ name: 'Deployments' }]);
  const [state, set] = useUrlState(SHAPE);
  const follow = useFollow();
  const need = usePermission('deployment:{slug}:write');
  const health = useDeploymentHealth();
  const filter: DeploymentFilter = {
    ...(state.q !== '' && { search: state.q }),
    ...(state.health.length > 0 && { health: [...state.health] }),
    ...(state.role !== '' && { roles: [state.role] }),
  };
  const variables = {
    ...pageArgs(state, 50),
    filter,
    orderBy: ORDERS[state.sort.by],
    descending: state.sort.descending,
  };
  const query = useQuery<DeploymentsQuery, ApiError>({
    queryKey: ['deployments', 'list', variables],
    queryFn: ({ signal }) => execute(DeploymentsDocument, variables, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: usePollWhenStale(),
  });
  const page = query.data?.deployments;
  const near = page && neighbours(state, page.pageInfo);
  return (
    <>
      <PageHead
        title={<>Deployments{page && !query.isPlaceholderData && <Count>{count(page.totalCount)}</Count>}</>}
        meta={healthLine(health)}
        actions={
          <PermittedButton
            need={need}
            variant="filled"
            leftSection={<Glyph icon={IconPlus} />}
            onClick={() => follow(paths.deploymentNew())}
          >
            Create deployment
          </PermittedButton>
        }
      />
      <Filters state={state} onChange={(patch, how) => set({ ...patch, ...FIRST_PAGE }, how)} />
      <div className="panel">
        {query.isPending ? (
          <SkeletonRows label="deployments" />
        ) : !page || !near ? (
          query.error && (
            <ErrorView
              what="Deployments could not be read"
              failure={query.error}
              onRetry={() => void query.refetch()}
            />
          )
        ) : page.nodes.length > 0 ? (
          <ListRows replaced={query.isPlaceholderData} label="deployments">
            <Rows rows={page.nodes} sort={state.sort} onSort={(next) => set({ sort: next, ...FIRST_PAGE })} />
            <TableFoot
              busy={query.isPlaceholderData}
              onPrevious={near.previous && (() => set(near.previous ?? FIRST_PAGE))}
              onNext={near.next && (() => set(near.next ?? FIRST_PAGE))}
            >
              {plural(page.totalCount, 'deployment')}
            </TableFoot>
          </ListRows>
        ) : query.isPlaceholderData ? (
          <SkeletonRows label="deployments" />
        ) : Object.keys(filter).length > 0 ? (
          <NoMatchView onClear={() => set({ q: '', health: [], role: '', ...FIRST_PAGE })}>
            No deployment has all of them.
          </NoMatchView>
        ) : (
          <EmptyView icon={IconGitFork} title="No deployment yet">
            <p>
              A deployment is a name that callers use; its variants say which workflow runs, how often, and on which
              roles.
            </p>
          </EmptyView>
        )}
      </div>
    </>
  );
}

type Filtered = Pick<StateOf<typeof SHAPE>, 'q' | 'health' | 'role'>;

function Filters({
  state,
  onChange,
}: {
  state: Filtered;
  onChange: (patch: Partial<Filtered>, how?: 'replace') => void;
}) {
  const roles = useRoles().data?.items ?? [];
  return (
    <div className="tools">
      <SearchField
        label="Search deployments"
        placeholder="Name"
        value={state.q}
        onSearch={(q) => onChange({ q }, 'replace')}
      />
      <Select
        aria-label="Role"
        placeholder="Role: any"
        w={160}
        clearable
        searchable
        data={roles.map((role) => role.role).toSorted()}
        value={state.role === '' ? null : state.role}
        onChange={(role) => onChange({ role: role ?? '' })}
      />
      <div role="group" aria-label="Filter by health" className="toggles">
        {HEALTHS.map((value) => (
          <button
            key={value}
            type="button"
            className="rb"
            aria-pressed={state.health.includes(value)}
            onClick={() => onChange({ health: toggled(state.health, value) })}
          >
            <StatusBadge look={status.deployment[value]} />
          </button>
        ))}
      </div>
    </div>
  );
}

function healthLine(health: { degraded: number; unavailable: number }): string {
  const parts = [
    health.unavailable > 0 && `${plural(health.unavailable, 'deployment')} cannot be called`,
    health.degraded > 0 && `${plural(health.degraded, 'deployment')} with a skipped variant`,
  ].filter((part) => part !== false);
  return parts.length > 0 ? `${parts.join('; ')}.` : 'Names that callers use, and the variants behind them.';
}

function Rows({
  rows,
  sort: order,
  onSort,
}: {
  rows: readonly DeploymentRow[];
  sort: Sort<Column>;
  onSort: (next: Sort<Column>) => void;
}) {
  return (
    <Scroll label="Deployments, table">
      <table className="tb">
        <caption className="sr">{rows.length} deployments</caption>
        <thead>
          <tr>
            <SortHead column="slug" sort={order} onSort={onSort} className="pin">
              Name
            </SortHead>
            <th scope="col">Health</th>
            <th scope="col">Variants, configured → effective</th>
            <th scope="col">Target roles</th>
            <SortHead column="lastExecution" sort={order} onSort={onSort} className="r">
              Last execution
            </SortHead>
            <SortHead column="updated" sort={order} onSort={onSort} className="r">
              Updated
            </SortHead>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row" className="pin">
                <Anchor href={paths.deployment(row.slug)}>{row.slug}</Anchor>
              </th>
              <td>
                <StatusBadge look={status.deployment[row.health satisfies DeploymentHealth]} />
              </td>
              <td className="wrap">
                {row.variants.map((variant, index) => (
                  <Fragment key={variant.label}>
                    <span className="nb">
                      {variant.label} <VariantShare share={variant.share} effective={variant.effectiveShare} />
                      {index < row.variants.length - 1 && <Dot />}
                    </span>{' '}
                  </Fragment>
                ))}
              </td>
              <td className="wrap">
                <RoleChips variants={row.variants} />
              </td>
              <td className="r mute">{row.lastExecutionAt ? <Ago at={row.lastExecutionAt} suffix /> : '–'}</td>
              <td className="r mute">
                <Ago at={row.updatedAt} suffix /> · {row.updatedBy}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function VariantShare({ share, effective }: { share: number; effective: number }) {
  if (percent(share) === percent(effective)) return <span className="mute">{percent(share)}</span>;
  return (
    <span className="flow">
      <span className="mute">{percent(share)}</span>
      <span className="ar">→</span>
      <span className={effective === 0 ? 'z' : 'strong'}>{percent(effective)}</span>
    </span>
  );
}

function RoleChips({ variants }: { variants: DeploymentRow['variants'] }) {
  const roles = new Map(
    variants.flatMap((variant) => variant.roles.map((role) => [role.role, role.healthyWorkers] as const)),
  );
  for (const role of variants.flatMap((variant) => variant.targetRoles)) if (!roles.has(role)) roles.set(role, 0);
  const any = variants.some((variant) => variant.targetRoles.length === 0);
  return (
    <span className="chips">
      {[...roles].map(([role, healthyWorkers]) => (
        <RoleChip key={role} role={role} healthyWorkers={healthyWorkers} />
      ))}
      {any && <AnyRoleChip />}
    </span>
  );
}
