import { Select } from '@mantine/core';
import { IconPlus, IconUsers } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ApiError, execute } from '../../api/client.ts';
import type { PrincipalFilter, PrincipalsQuery } from '../../api/generated/graphql.ts';
import { FIRST_PAGE, pageArgs } from '../../api/paging.ts';
import { usePermission } from '../../api/viewer.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Scroll } from '../../ui/layout.tsx';
import { type Need, PermittedButton } from '../../ui/permitted.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { EmptyView } from '../../ui/view-states.tsx';
import { choice, type StateOf, text } from '../../url-state.ts';
import { AccessHead } from './access-head.tsx';
import { type PrincipalRow, PrincipalsDocument } from './access-queries.ts';
import { ListStates, totalOf } from './list-states.tsx';
import { PrincipalDialogs } from './principal-dialogs.tsx';
import { PrincipalMenu } from './principal-menu.tsx';
import { useAccessRoles } from './use-access-roles.ts';

const SHAPE = {
  q: text(),
  kind: choice(['any', 'USER', 'SERVICE'], 'any'),
  role: text(),
  state: choice(['any', 'enabled', 'disabled'], 'any'),
  after: text(),
  before: text(),
  dialog: text(),
};

const KINDS = { USER: 'Person', SERVICE: 'Service account' } as const;

/** Who is known: people and service accounts. */
export function PrincipalsPage() {
  const [state, set] = useUrlState(SHAPE);
  const need = usePermission('admin:principals:write');
  const filter: PrincipalFilter = {
    ...(state.q !== '' && { search: state.q }),
    ...(state.kind !== 'any' && { kind: state.kind }),
    ...(state.role !== '' && { role: state.role }),
    ...(state.state !== 'any' && { disabled: state.state === 'disabled' }),
  };
  const variables = { ...pageArgs(state, 50), filter };
  const query = useQuery<PrincipalsQuery, ApiError>({
    queryKey: ['principals', 'list', variables],
    queryFn: ({ signal }) => execute(PrincipalsDocument, variables, { signal }),
    placeholderData: keepPreviousData,
  });
  const page = query.data?.principals;
  return (
    <>
      <AccessHead
        current="principals"
        title="Principals"
        total={totalOf(page, query.isPlaceholderData)}
        meta="People and service accounts. What one may do is what its roles say."
        actions={
          <PermittedButton
            need={need}
            variant="filled"
            leftSection={<Glyph icon={IconPlus} />}
            onClick={() => set({ dialog: 'create' })}
          >
            Create principal
          </PermittedButton>
        }
      />
      <Filters state={state} onChange={(patch, how) => set({ ...patch, ...FIRST_PAGE }, how)} />
      <div className="panel">
        <ListStates
          query={query}
          page={page}
          place={state}
          noun="principals"
          filtered={Object.keys(filter).length > 0}
          empty={
            <EmptyView icon={IconUsers} title="No principal yet">
              <p>Whoever holds the token of this installation is admin. Everybody else is created here.</p>
            </EmptyView>
          }
          renderRows={(rows) => <Rows rows={rows} need={need} onDialog={(dialog) => set({ dialog })} />}
          onPlace={(place) => set(place)}
          onClear={() => set({ q: '', kind: 'any', role: '', state: 'any', ...FIRST_PAGE })}
        />
      </div>
      <PrincipalDialogs dialog={state.dialog} onClose={() => set({ dialog: '' }, 'replace')} />
    </>
  );
}

type Filtered = Pick<StateOf<typeof SHAPE>, 'q' | 'kind' | 'role' | 'state'>;

function Filters({
  state,
  onChange,
}: {
  state: Filtered;
  onChange: (patch: Partial<Filtered>, how?: 'replace') => void;
}) {
  const roles = useAccessRoles().data?.accessRoles ?? [];
  const names = new Set([...roles.map((role) => role.name), ...(state.role === '' ? [] : [state.role])]);
  return (
    <div className="tools">
      <SearchField
        label="Search principals"
        placeholder="Part of the name"
        value={state.q}
        onSearch={(q) => onChange({ q }, 'replace')}
      />
      <Select
        aria-label="Kind"
        w={150}
        allowDeselect={false}
        data={[
          { value: 'any', label: 'Kind: any' },
          { value: 'USER', label: 'People' },
          { value: 'SERVICE', label: 'Service accounts' },
        ]}
        value={state.kind}
        onChange={(kind) => onChange({ kind: kind ?? 'any' })}
      />
      <Select
        aria-label="Role"
        placeholder="Role: any"
        w={150}
        clearable
        searchable
        data={[...names]}
        value={state.role === '' ? null : state.role}
        onChange={(role) => onChange({ role: role ?? '' })}
      />
      <Select
        aria-label="State"
        w={150}
        allowDeselect={false}
        data={[
          { value: 'any', label: 'State: any' },
          { value: 'enabled', label: 'Enabled' },
          { value: 'disabled', label: 'Disabled' },
        ]}
        value={state.state}
        onChange={(next) => onChange({ state: next ?? 'any' })}
      />
    </div>
  );
}

function Rows({
  rows,
  need,
  onDialog,
}: {
  rows: readonly PrincipalRow[];
  need: Need;
  onDialog: (dialog: string) => void;
}) {
  return (
    <Scroll label="Principals, table">
      <table className="tb">
        <caption className="sr">{rows.length} principals</caption>
        <thead>
          <tr>
            <th scope="col" className="pin">
              Name
            </th>
            <th scope="col">State</th>
            <th scope="col">Kind</th>
            <th scope="col">Roles</th>
            <th scope="col">Signs in with</th>
            <th scope="col" className="r">
              Created
            </th>
            <th scope="col">
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row" className="pin">
                <span className="name-cell strong" title={row.name}>
                  {row.name}
                </span>
              </th>
              <td>
                <StatusBadge look={row.disabled ? status.principal.disabled : status.principal.enabled} />
              </td>
              <td>{KINDS[row.kind]}</td>
              <td className="wrap">{row.roles.join(', ') || <span className="mute">none</span>}</td>
              <td>{waysIn(row) || <span className="mute">tokens</span>}</td>
              <td className="r mute">
                <Ago at={row.createdAt} suffix /> · {row.createdBy}
              </td>
              <td className="r">
                <PrincipalMenu row={row} need={need} onDialog={onDialog} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function waysIn(row: PrincipalRow): string {
  return [row.hasPassword && 'password', row.externalIdentity && 'identity provider'].filter(Boolean).join(', ');
}
