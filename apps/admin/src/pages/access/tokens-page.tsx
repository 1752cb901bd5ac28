import { IconKey, IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { ApiTokenFilter, ApiTokensQuery } from '../../api/generated/graphql.ts';
import { FIRST_PAGE, pageArgs } from '../../api/paging.ts';
import { usePermission, useViewer } from '../../api/viewer.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Scroll } from '../../ui/layout.tsx';
import { PermittedButton } from '../../ui/permitted.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EmptyView } from '../../ui/view-states.tsx';
import { choice, text } from '../../url-state.ts';
import { AccessHead } from './access-head.tsx';
import { ApiTokensDocument, RevokeApiTokenDocument, type TokenRow } from './access-queries.ts';
import { CREDENTIAL_STATES, CredentialFilter } from './credential-filter.tsx';
import { Expiry } from './expiry.tsx';
import { ListStates, totalOf } from './list-states.tsx';
import { SecretOnce } from './secret-once.tsx';
import { TokenDialog } from './token-dialog.tsx';

const SHAPE = {
  principal: text(),
  status: choice(CREDENTIAL_STATES, 'any'),
  after: text(),
  before: text(),
  dialog: choice(['', 'create'], ''),
};

/** API tokens: of everybody for who may read them, else one's own. */
export function TokensPage() {
  const client = useQueryClient();
  const [state, set] = useUrlState(SHAPE);
  const [secret, setSecret] = useState<string | null>(null);
  const all = usePermission('admin:tokens:read');
  const filter: ApiTokenFilter = {
    ...(state.principal !== '' && { principal: state.principal }),
    ...(state.status !== 'any' && { status: state.status }),
  };
  const variables = { ...pageArgs(state, 50), filter };
  const query = useQuery<ApiTokensQuery, ApiError>({
    queryKey: ['api-tokens', variables],
    queryFn: ({ signal }) => execute(ApiTokensDocument, variables, { signal }),
    placeholderData: keepPreviousData,
  });
  const page = query.data?.apiTokens;
  return (
    <>
      <AccessHead
        current="tokens"
        title="API tokens"
        total={totalOf(page, query.isPlaceholderData)}
        meta={
          all.allowed
            ? 'What scripts and services send. A token may at most what its principal may.'
            : 'Your own. A token may at most what you may. Those of others need admin:tokens:read.'
        }
        actions={
          <PermittedButton
            need={{ permission: '', allowed: true }}
            variant="filled"
            leftSection={<Glyph icon={IconPlus} />}
            onClick={() => set({ dialog: 'create' })}
          >
            Create token
          </PermittedButton>
        }
      />
      <div className="tools">
        <SearchField
          label="Principal"
          placeholder="Name of a principal"
          value={state.principal}
          onSearch={(principal) => set({ principal, ...FIRST_PAGE }, 'replace')}
        />
        <CredentialFilter
          options={['ACTIVE', 'EXPIRED', 'REVOKED']}
          value={state.status}
          onChange={(next) => set({ status: next, ...FIRST_PAGE })}
        />
      </div>
      <div className="panel">
        <ListStates
          query={query}
          page={page}
          place={state}
          noun="tokens"
          filtered={Object.keys(filter).length > 0}
          empty={
            <EmptyView icon={IconKey} title="No API token yet">
              <p>A token lets a script or a service call the API as a principal, without its password.</p>
            </EmptyView>
          }
          renderRows={(rows) => <Rows rows={rows} />}
          onPlace={(place) => set(place)}
          onClear={() => set({ principal: '', status: 'any', ...FIRST_PAGE })}
        />
      </div>
      {state.dialog === 'create' && (
        <TokenDialog
          principal={state.principal}
          onMade={(made) => {
            setSecret(made);
            set({ dialog: '' }, 'replace');
            void client.invalidateQueries({ queryKey: ['api-tokens'] });
          }}
          onClose={() => set({ dialog: '' }, 'replace')}
        />
      )}
      {secret !== null && (
        <SecretOnce
          title="The new API token"
          secret={secret}
          command={`curl ${location.origin}/graphql -H 'content-type: application/json' -H 'authorization: Bearer $SECRET' -d '{"query":"{ viewer { name } }"}'`}
          onClose={() => setSecret(null)}
        />
      )}
    </>
  );
}

function Rows({ rows }: { rows: readonly TokenRow[] }) {
  return (
    <Scroll label="API tokens, table">
      <table className="tb">
        <caption className="sr">{rows.length} tokens</caption>
        <thead>
          <tr>
            <th scope="col" className="pin">
              Token
            </th>
            <th scope="col">Status</th>
            <th scope="col">Begins with</th>
            <th scope="col">Principal</th>
            <th scope="col">Narrowed to</th>
            <th scope="col" className="r">
              Last used
            </th>
            <th scope="col" className="r">
              Expires
            </th>
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
                <StatusBadge look={status.credential[row.status]} />
              </td>
              <td className="mono">{row.prefix}…</td>
              <td>
                <span className="name-cell">{row.principal?.name ?? '–'}</span>
              </td>
              <td className="wrap narrow">
                {row.scopes.length === 0 ? (
                  <span className="mute">all it may</span>
                ) : (
                  <span className="permissions">
                    {row.scopes.map((scope) => (
                      <code key={scope}>{scope}</code>
                    ))}
                  </span>
                )}
              </td>
              <td className="r mute">{row.lastUsedAt ? <Ago at={row.lastUsedAt} suffix /> : 'never'}</td>
              <td className="r mute">
                <Expiry at={row.expiresAt ?? null} />
              </td>
              <td className="r mute">
                <Ago at={row.createdAt} suffix /> · {row.createdBy}
              </td>
              <td className="r">{row.status === 'ACTIVE' && <RevokeButton row={row} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function RevokeButton({ row }: { row: TokenRow }) {
  const client = useQueryClient();
  const others = usePermission('admin:tokens:write');
  const own = useViewer()?.name === row.principal?.name;
  const [asking, setAsking] = useState(false);
  const revoke = useMutation<unknown, ApiError>({
    mutationFn: () => execute(RevokeApiTokenDocument, { input: { id: row.id } }),
    onSuccess: () => showToast({ message: `${row.name} revoked` }),
    onError: (error) => showToast({ message: error.message }),
    onSettled: () => {
      setAsking(false);
      void client.invalidateQueries({ queryKey: ['api-tokens'] });
    },
  });
  return (
    <>
      <PermittedButton
        need={own ? { permission: '', allowed: true } : others}
        size="xs"
        aria-label={`Revoke ${row.name}`}
        onClick={() => setAsking(true)}
      >
        Revoke…
      </PermittedButton>
      {asking && (
        <Confirm
          title={`Revoke ${row.name}?`}
          verb="Revoke token"
          danger
          pending={revoke.isPending}
          onConfirm={() => revoke.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>Whoever uses it is refused at once, and what was opened with it ends. This cannot be taken back.</p>
        </Confirm>
      )}
    </>
  );
}
