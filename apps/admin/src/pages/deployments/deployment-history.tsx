import { Button } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute, isRecord } from '../../api/client.ts';
import type { DeploymentHistoryQuery } from '../../api/generated/graphql.ts';
import { usePermission } from '../../api/viewer.ts';
import { Ago } from '../../ui/ago.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Panel, Scroll } from '../../ui/layout.tsx';
import { type Need, PermittedButton } from '../../ui/permitted.tsx';
import { showToast } from '../../ui/toast.tsx';
import { ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { type DeploymentDetail, DeploymentHistoryDocument, RollbackDeploymentDocument } from './deployment-queries.ts';

/** What a stored revision says about its variants, in one line. */
export function revisionLine(variants: unknown): string {
  if (!Array.isArray(variants)) return '–';
  return variants
    .flatMap((variant: unknown) => {
      if (!isRecord(variant)) return [];
      const roles =
        Array.isArray(variant['targetRoles']) && variant['targetRoles'].length > 0
          ? ` on ${variant['targetRoles'].join(' or ')}`
          : '';
      return [`${String(variant['label'])} ${String(variant['weight'])}${roles}`];
    })
    .join(', ');
}

/** Every saved revision, newest first; an older one can be made the newest again. */
export function DeploymentHistory({ deployment }: { deployment: DeploymentDetail }) {
  const client = useQueryClient();
  const need = usePermission(`deployment:${deployment.slug}:write`);
  const [asking, setAsking] = useState<number | null>(null);
  const query = useInfiniteQuery({
    queryKey: ['deployments', 'history', deployment.slug],
    queryFn: ({ signal, pageParam }) =>
      execute(DeploymentHistoryDocument, { slug: deployment.slug, after: pageParam }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) =>
      last.deployment?.history.pageInfo.hasNextPage ? last.deployment.history.pageInfo.endCursor : null,
  });
  const rollback = useMutation<unknown, ApiError, number>({
    mutationFn: (toRevision) =>
      execute(RollbackDeploymentDocument, {
        input: {
          slug: deployment.slug,
          toRevision,
          expectedRevision: deployment.revision,
          comment: `Back to revision ${toRevision}`,
        },
      }),
    onSuccess: (_, toRevision) => {
      setAsking(null);
      void client.invalidateQueries({ queryKey: ['deployments'] });
      showToast({ message: `${deployment.slug} is as in revision ${toRevision}` });
    },
    onError: (error) => {
      setAsking(null);
      showToast({ message: error.message });
    },
  });
  const rows = query.data?.pages.flatMap((page) => page.deployment?.history.nodes ?? []) ?? [];
  return (
    <Panel title="History" count={query.data?.pages[0]?.deployment?.history.totalCount} flush>
      {query.isPending ? (
        <SkeletonRows label="the history" />
      ) : query.isError ? (
        <ErrorView
          what="The history could not be read"
          failure={query.error as ApiError}
          onRetry={() => void query.refetch()}
        />
      ) : (
        <>
          <Revisions rows={rows} current={deployment.revision} need={need} onBack={setAsking} />
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
      {asking !== null && (
        <Confirm
          title={`Go back to revision ${asking}?`}
          verb={`Go back to ${asking}`}
          pending={rollback.isPending}
          onConfirm={() => rollback.mutate(asking)}
          onCancel={() => setAsking(null)}
        >
          <p>
            A new revision {deployment.revision + 1} gets the variants of revision {asking}. Nothing of the history is
            lost.
          </p>
        </Confirm>
      )}
    </Panel>
  );
}

type Revision = NonNullable<DeploymentHistoryQuery['deployment']>['history']['nodes'][number];

function Revisions({
  rows,
  current,
  need,
  onBack,
}: {
  rows: readonly Revision[];
  current: number;
  need: Need;
  onBack: (revision: number) => void;
}) {
  return (
    <Scroll label="Revisions, table">
      <table className="tb">
        <thead>
          <tr>
            <th scope="col">Revision</th>
            <th scope="col">Who</th>
            <th scope="col">Variants</th>
            <th scope="col">Comment</th>
            <th scope="col" className="r">
              When
            </th>
            <th scope="col">
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.revision}>
              <th scope="row">{row.revision}</th>
              <td>{row.author}</td>
              <td>{revisionLine(row.variants)}</td>
              <td className="wrap">{row.comment || <span className="mute">–</span>}</td>
              <td className="r mute">
                <Ago at={row.at} suffix />
              </td>
              <td className="r">
                {row.revision !== current && (
                  <PermittedButton need={need} size="xs" onClick={() => onBack(row.revision)}>
                    Go back to {row.revision}
                  </PermittedButton>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
