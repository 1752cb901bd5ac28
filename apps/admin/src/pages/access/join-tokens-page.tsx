import { IconPlus, IconServer, IconTrash } from '@tabler/icons-react';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { JoinTokenFilter, JoinTokensQuery } from '../../api/generated/graphql.ts';
import { FIRST_PAGE, pageArgs } from '../../api/paging.ts';
import { usePermission } from '../../api/viewer.ts';
import { plural } from '../../format.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Panel } from '../../ui/layout.tsx';
import { PermittedButton } from '../../ui/permitted.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EmptyView } from '../../ui/view-states.tsx';
import { choice, text } from '../../url-state.ts';
import { AccessHead } from './access-head.tsx';
import { JoinTokensDocument, PurgeJoinTokensDocument } from './access-queries.ts';
import { CREDENTIAL_STATES, CredentialFilter } from './credential-filter.tsx';
import { JoinTokenDialog, joinCommand } from './join-token-dialog.tsx';
import { JoinTokenRows } from './join-token-rows.tsx';
import { ListStates, totalOf } from './list-states.tsx';
import { SecretOnce } from './secret-once.tsx';
import { WorkerCredentials } from './worker-credentials.tsx';

const SHAPE = {
  worker: text(),
  status: choice(CREDENTIAL_STATES, 'any'),
  after: text(),
  before: text(),
  dialog: choice(['', 'create', 'purge'], ''),
};

/** How workers come in (join tokens), and what they are known by since (credentials). */
export function JoinTokensPage() {
  const client = useQueryClient();
  const [state, set] = useUrlState(SHAPE);
  const [made, setMade] = useState<{ secret: string; worker: string } | null>(null);
  const read = usePermission('admin:tokens:read');
  const need = usePermission('admin:tokens:write');
  const filter: JoinTokenFilter = {
    ...(state.worker !== '' && { worker: state.worker }),
    ...(state.status !== 'any' && { status: state.status }),
  };
  const variables = { ...pageArgs(state, 50), filter };
  const query = useQuery<JoinTokensQuery, ApiError>({
    queryKey: ['join-tokens', variables],
    queryFn: ({ signal }) => execute(JoinTokensDocument, variables, { signal }),
    placeholderData: keepPreviousData,
  });
  const page = query.data?.joinTokens;
  return (
    <>
      <AccessHead
        current="join-tokens"
        title="Join tokens"
        total={totalOf(page, query.isPlaceholderData)}
        meta="A join token lets one worker in, once; from then on the worker has a credential of its own."
        actions={
          <>
            <PermittedButton
              need={need}
              leftSection={<Glyph icon={IconTrash} />}
              onClick={() => set({ dialog: 'purge' })}
            >
              Purge…
            </PermittedButton>
            <PermittedButton
              need={need}
              variant="filled"
              leftSection={<Glyph icon={IconPlus} />}
              onClick={() => set({ dialog: 'create' })}
            >
              Create join token
            </PermittedButton>
          </>
        }
      />
      <div className="tools">
        <SearchField
          label="Worker"
          placeholder="Name of a worker"
          value={state.worker}
          onSearch={(worker) => set({ worker, ...FIRST_PAGE }, 'replace')}
        />
        <CredentialFilter
          options={['ACTIVE', 'USED', 'EXPIRED', 'REVOKED']}
          value={state.status}
          onChange={(next) => set({ status: next, ...FIRST_PAGE })}
        />
      </div>
      <Panel title="Join tokens" className="mb" flush>
        <ListStates
          query={query}
          page={page}
          place={state}
          noun="join tokens"
          filtered={Object.keys(filter).length > 0}
          empty={
            <EmptyView icon={IconServer} title="No join token yet">
              <p>Create one for each worker that shall come in; it says under which name, role and labels.</p>
            </EmptyView>
          }
          renderRows={(rows) => <JoinTokenRows rows={rows} need={need} />}
          onPlace={(place) => set(place)}
          onClear={() => set({ worker: '', status: 'any', ...FIRST_PAGE })}
        />
      </Panel>
      {read.allowed && <WorkerCredentials worker={state.worker} status={state.status} need={need} />}
      {state.dialog === 'create' && (
        <JoinTokenDialog
          worker={state.worker}
          onMade={(secret, worker) => {
            setMade({ secret, worker });
            set({ dialog: '' }, 'replace');
            void client.invalidateQueries({ queryKey: ['join-tokens'] });
          }}
          onClose={() => set({ dialog: '' }, 'replace')}
        />
      )}
      {state.dialog === 'purge' && <Purge onClose={() => set({ dialog: '' }, 'replace')} />}
      {made !== null && (
        <SecretOnce
          title="The new join token"
          secret={made.secret}
          command={joinCommand(made.worker)}
          onClose={() => setMade(null)}
        />
      )}
    </>
  );
}

function Purge({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const purge = useMutation<number, ApiError>({
    mutationFn: async () => (await execute(PurgeJoinTokensDocument, {})).purgeJoinTokens.count,
    onSuccess: (count) => showToast({ message: `${plural(count, 'join token')} forgotten` }),
    onError: (error) => showToast({ message: error.message }),
    onSettled: () => {
      onClose();
      void client.invalidateQueries({ queryKey: ['join-tokens'] });
    },
  });
  return (
    <Confirm
      title="Purge join tokens?"
      verb="Purge"
      danger
      pending={purge.isPending}
      onConfirm={() => purge.mutate()}
      onCancel={onClose}
    >
      <p>Those that were used, revoked or have expired are forgotten. Workers that came in with them stay.</p>
    </Confirm>
  );
}
