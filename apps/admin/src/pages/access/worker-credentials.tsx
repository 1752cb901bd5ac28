import { Button } from '@mantine/core';
import { IconServer } from '@tabler/icons-react';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { CredentialStatus } from '../../api/generated/graphql.ts';
import { countAtLeast } from '../../format.ts';
import { paths } from '../../paths.ts';
import { status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Panel, Scroll } from '../../ui/layout.tsx';
import { type Need, PermittedButton } from '../../ui/permitted.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EmptyView, ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { type CredentialRow, RevokeWorkerCredentialDocument, WorkerCredentialsDocument } from './access-queries.ts';
import { Expiry } from './expiry.tsx';

/** What workers are known by. To revoke one is to ban its worker. */
export function WorkerCredentials({
  worker,
  status: wanted,
  need,
}: {
  worker: string;
  status: CredentialStatus | 'any';
  need: Need;
}) {
  const filter = { ...(worker !== '' && { worker }), ...(wanted !== 'any' && { status: wanted }) };
  const query = useInfiniteQuery({
    queryKey: ['worker-credentials', filter],
    queryFn: ({ signal, pageParam }) => execute(WorkerCredentialsDocument, { filter, after: pageParam }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ workerCredentials: { pageInfo } }) => (pageInfo.hasNextPage ? pageInfo.endCursor : null),
  });
  const first = query.data?.pages[0]?.workerCredentials;
  const rows = query.data?.pages.flatMap((page) => page.workerCredentials.nodes) ?? [];
  return (
    <Panel
      title="Worker credentials"
      count={first && countAtLeast(first.totalCount, first.totalCountExact)}
      aside="Renewed by the workers themselves"
      flush
    >
      {query.isPending ? (
        <SkeletonRows label="worker credentials" rows={3} />
      ) : query.isError ? (
        <ErrorView
          what="Worker credentials could not be read"
          failure={query.error as ApiError}
          onRetry={() => void query.refetch()}
        />
      ) : rows.length === 0 ? (
        <EmptyView icon={IconServer} title="No worker credential">
          <p>
            {Object.keys(filter).length > 0 ? 'None is like this.' : 'No worker has come in with a join token yet.'}
          </p>
        </EmptyView>
      ) : (
        <>
          <Rows rows={rows} need={need} />
          {query.hasNextPage && (
            <div className="tfoot">
              <span className="end">
                <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  Show older
                </Button>
              </span>
            </div>
          )}
        </>
      )}
    </Panel>
  );
}

function Rows({ rows, need }: { rows: readonly CredentialRow[]; need: Need }) {
  return (
    <Scroll label="Worker credentials, table">
      <table className="tb">
        <caption className="sr">{rows.length} worker credentials</caption>
        <thead>
          <tr>
            <th scope="col" className="pin">
              Worker
            </th>
            <th scope="col">Status</th>
            <th scope="col">Begins with</th>
            <th scope="col">Role</th>
            <th scope="col">Services</th>
            <th scope="col" className="r">
              Last used
            </th>
            <th scope="col" className="r">
              Expires
            </th>
            <th scope="col" className="r">
              Since
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
                <Anchor href={paths.worker(row.worker)}>{row.worker}</Anchor>
              </th>
              <td>
                <StatusBadge look={status.credential[row.status]} />
              </td>
              <td className="mono">{row.prefix}…</td>
              <td>{row.role ?? <span className="mute">any</span>}</td>
              <td>{row.services.join(', ') || <span className="mute">–</span>}</td>
              <td className="r mute">{row.lastUsedAt ? <Ago at={row.lastUsedAt} suffix /> : 'never'}</td>
              <td className="r mute">
                <Expiry at={row.expiresAt} />
              </td>
              <td className="r mute">
                <Ago at={row.createdAt} suffix />
              </td>
              <td className="r">{row.status === 'ACTIVE' && <RevokeButton row={row} need={need} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function RevokeButton({ row, need }: { row: CredentialRow; need: Need }) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const revoke = useMutation<unknown, ApiError>({
    mutationFn: () => execute(RevokeWorkerCredentialDocument, { input: { id: row.id } }),
    onSuccess: () => showToast({ message: `${row.worker} banned` }),
    onError: (error) => showToast({ message: error.message }),
    onSettled: () => {
      setAsking(false);
      void client.invalidateQueries({ queryKey: ['worker-credentials'] });
    },
  });
  return (
    <>
      <PermittedButton
        need={need}
        size="xs"
        aria-label={`Revoke the credential of ${row.worker}`}
        onClick={() => setAsking(true)}
      >
        Revoke…
      </PermittedButton>
      {asking && (
        <Confirm
          title={`Ban ${row.worker}?`}
          verb={`Ban ${row.worker}`}
          danger
          pending={revoke.isPending}
          onConfirm={() => revoke.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>
            All its credentials end, its connections within a second, and what it holds is given to others. It comes
            back only with a join token made later.
          </p>
        </Confirm>
      )}
    </>
  );
}
