import { Button } from '@mantine/core';
import { IconDeviceDesktop, IconPassword } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { LoginMethod, LoginSessionFilter, LoginSessionsQuery } from '../../api/generated/graphql.ts';
import { FIRST_PAGE, pageArgs } from '../../api/paging.ts';
import { signOut } from '../../api/session.ts';
import { usePermission, useViewer } from '../../api/viewer.ts';
import { plural } from '../../format.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { Ago } from '../../ui/ago.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Scroll } from '../../ui/layout.tsx';
import { type Need, PermittedButton } from '../../ui/permitted.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EmptyView } from '../../ui/view-states.tsx';
import { choice, text } from '../../url-state.ts';
import { AccessHead } from './access-head.tsx';
import {
  LoginSessionsDocument,
  RevokeLoginSessionDocument,
  RevokeLoginSessionsDocument,
  type SessionRow,
} from './access-queries.ts';
import { Expiry } from './expiry.tsx';
import { ListStates, totalOf } from './list-states.tsx';
import { OwnPasswordDialog } from './own-password-dialog.tsx';

const SHAPE = { principal: text(), after: text(), before: text(), dialog: choice(['', 'password', 'all'], '') };

const METHODS: Record<LoginMethod, string> = {
  LINK: 'link of the server',
  TOKEN: 'token',
  PASSWORD: 'password',
  OIDC: 'identity provider',
};

/** Browsers that are signed in: of everybody for who may read them, else one's own. */
export function SessionsPage() {
  const [state, set] = useUrlState(SHAPE);
  const viewer = useViewer();
  const all = usePermission('admin:principals:read');
  const others = usePermission('admin:principals:write');
  const filter: LoginSessionFilter = state.principal === '' ? {} : { principal: state.principal };
  const variables = { ...pageArgs(state, 50), filter };
  const query = useQuery<LoginSessionsQuery, ApiError>({
    queryKey: ['login-sessions', variables],
    queryFn: ({ signal }) => execute(LoginSessionsDocument, variables, { signal }),
    placeholderData: keepPreviousData,
  });
  const page = query.data?.loginSessions;
  const whose = state.principal === '' ? (viewer?.name ?? '') : state.principal;
  const needFor = (name: string | undefined): Need =>
    name === viewer?.name ? { permission: '', allowed: true } : others;
  return (
    <>
      <AccessHead
        current="sessions"
        title="Sessions"
        total={totalOf(page, query.isPlaceholderData)}
        meta={
          all.allowed
            ? 'Browsers that are signed in now, of everybody.'
            : 'Browsers in which you are signed in now. Those of others need admin:principals:read.'
        }
        actions={
          <>
            {viewer?.hasPassword && (
              <Button leftSection={<Glyph icon={IconPassword} />} onClick={() => set({ dialog: 'password' })}>
                Change your password
              </Button>
            )}
            <PermittedButton need={needFor(whose)} onClick={() => set({ dialog: 'all' })}>
              {whose === viewer?.name ? 'Revoke all of yours…' : `Revoke all of ${whose}…`}
            </PermittedButton>
          </>
        }
      />
      <div className="tools">
        <SearchField
          label="Principal"
          placeholder="Name of a principal"
          value={state.principal}
          onSearch={(principal) => set({ principal, ...FIRST_PAGE }, 'replace')}
        />
      </div>
      <div className="panel">
        <ListStates
          query={query}
          page={page}
          place={state}
          noun="sessions"
          filtered={state.principal !== ''}
          empty={
            <EmptyView icon={IconDeviceDesktop} title="No session">
              <p>Nobody is signed in with a browser.</p>
            </EmptyView>
          }
          renderRows={(rows) => <Rows rows={rows} needFor={needFor} />}
          onPlace={(place) => set(place)}
          onClear={() => set({ principal: '', ...FIRST_PAGE })}
        />
      </div>
      {state.dialog === 'all' && <RevokeAll principal={whose} onClose={() => set({ dialog: '' }, 'replace')} />}
      {state.dialog === 'password' && <OwnPasswordDialog onClose={() => set({ dialog: '' }, 'replace')} />}
    </>
  );
}

function Rows({ rows, needFor }: { rows: readonly SessionRow[]; needFor: (name: string | undefined) => Need }) {
  return (
    <Scroll label="Sessions, table">
      <table className="tb">
        <caption className="sr">{rows.length} sessions</caption>
        <thead>
          <tr>
            <th scope="col" className="pin">
              Principal
            </th>
            <th scope="col">Signed in with</th>
            <th scope="col">From</th>
            <th scope="col">Browser</th>
            <th scope="col" className="r">
              Since
            </th>
            <th scope="col" className="r">
              Last seen
            </th>
            <th scope="col" className="r">
              Ends
            </th>
            <th scope="col">
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} aria-current={row.current ? 'true' : undefined}>
              <th scope="row" className="pin">
                <span className="name-cell strong">{row.principal?.name ?? '–'}</span>
                {row.current && <span className="mute nowrap"> · this browser</span>}
              </th>
              <td>{METHODS[row.method]}</td>
              <td className="mono">{row.address ?? '–'}</td>
              <td>
                <span className="why-cell" title={row.userAgent ?? undefined}>
                  {row.userAgent ?? '–'}
                </span>
              </td>
              <td className="r mute">
                <Ago at={row.createdAt} suffix />
              </td>
              <td className="r mute">
                <Ago at={row.seenAt} suffix />
              </td>
              <td className="r mute">
                <Expiry at={row.expiresAt} />
              </td>
              <td className="r">
                <RevokeButton row={row} need={needFor(row.principal?.name)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function RevokeButton({ row, need }: { row: SessionRow; need: Need }) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const name = row.principal?.name ?? 'somebody';
  const revoke = useMutation<unknown, ApiError>({
    mutationFn: () => execute(RevokeLoginSessionDocument, { input: { id: row.id } }),
    onSuccess: () => (row.current ? void signOut() : showToast({ message: `Session of ${name} revoked` })),
    onError: (error) => showToast({ message: error.message }),
    onSettled: () => {
      setAsking(false);
      if (!row.current) void client.invalidateQueries({ queryKey: ['login-sessions'] });
    },
  });
  return (
    <>
      <PermittedButton
        need={need}
        size="xs"
        aria-label={`Revoke ${row.current ? 'this session' : `the session of ${name} from ${row.address ?? 'nowhere'}`}`}
        onClick={() => setAsking(true)}
      >
        Revoke…
      </PermittedButton>
      {asking && (
        <Confirm
          title={row.current ? 'Revoke this session?' : `Revoke a session of ${name}?`}
          verb="Revoke session"
          danger
          pending={revoke.isPending}
          onConfirm={() => revoke.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>{row.current ? 'You are signed out here.' : 'That browser is signed out at once.'}</p>
        </Confirm>
      )}
    </>
  );
}

function RevokeAll({ principal, onClose }: { principal: string; onClose: () => void }) {
  const client = useQueryClient();
  const own = useViewer()?.name === principal;
  const revoke = useMutation<number, ApiError>({
    mutationFn: async () =>
      (await execute(RevokeLoginSessionsDocument, { input: { principal } })).revokeLoginSessions.count,
    onSuccess: (count) => {
      showToast({ message: `${plural(count, 'session')} of ${principal} revoked` });
      if (own) void signOut();
      else void client.invalidateQueries({ queryKey: ['login-sessions'] });
      onClose();
    },
    onError: (error) => {
      showToast({ message: error.message });
      onClose();
    },
  });
  return (
    <Confirm
      title={`Revoke all sessions of ${principal}?`}
      verb="Revoke all"
      danger
      pending={revoke.isPending}
      onConfirm={() => revoke.mutate()}
      onCancel={onClose}
    >
      <p>{own ? 'You are signed out everywhere, here too.' : 'Its browsers are signed out at once.'} Tokens stay.</p>
    </Confirm>
  );
}
