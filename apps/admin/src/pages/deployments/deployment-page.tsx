import { Button, Menu, TextInput } from '@mantine/core';
import { IconDots, IconGitFork, IconHistory, IconPlayerPlay, IconTrash, IconUserSearch } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { DeploymentQuery } from '../../api/generated/graphql.ts';
import { useRoles } from '../../api/roles.ts';
import { usePermission } from '../../api/viewer.ts';
import { usePollWhenStale } from '../../api/polling.ts';
import { usePage } from '../../hooks/use-page.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { paths } from '../../paths.ts';
import { status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { useFollow } from '../../ui/anchor.tsx';
import { Banner } from '../../ui/banner.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Dot, PageHead } from '../../ui/layout.tsx';
import { PermittedButton, PermittedItem } from '../../ui/permitted.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TabLinks } from '../../ui/tabs.tsx';
import { showToast } from '../../ui/toast.tsx';
import { EmptyView, ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { choice } from '../../url-state.ts';
import { DeploymentEditor } from './deployment-editor.tsx';
import { DeploymentHistory } from './deployment-history.tsx';
import { DeleteDeploymentDocument, type DeploymentDetail, DeploymentDocument } from './deployment-queries.ts';
import { workWaits } from './review.tsx';
import { TestSession } from './test-session.tsx';

const SHAPE = { tab: choice(['variants', 'history'], 'variants'), test: choice(['0', '1'], '0') };

export function DeploymentPage() {
  const { slug = '' } = useParams({ strict: false });
  usePage([{ name: 'Deployments', href: paths.deployments() }, { name: slug }]);
  const [state, set] = useUrlState(SHAPE);
  const roles = useRoles();
  const mayRun = usePermission(`deployment:${slug}:run`);
  const follow = useFollow();
  const query = useQuery<DeploymentQuery, ApiError>({
    queryKey: ['deployments', 'one', slug],
    queryFn: ({ signal }) => execute(DeploymentDocument, { slug }, { signal }),
    refetchInterval: usePollWhenStale(),
  });
  const deployment = query.data?.deployment;
  return (
    <>
      <PageHead
        title={query.data?.deployment === null ? 'Deployment not found' : slug}
        badge={deployment && <StatusBadge look={status.deployment[deployment.health]} pill />}
        meta={deployment && <Meta deployment={deployment} />}
        actions={
          deployment && (
            <>
              <PermittedButton
                need={mayRun}
                leftSection={<Glyph icon={IconPlayerPlay} />}
                onClick={() => follow(paths.executionNew({ deployment: slug }))}
              >
                Run
              </PermittedButton>
              <Button leftSection={<Glyph icon={IconUserSearch} />} onClick={() => set({ test: '1' })}>
                Test a session
              </Button>
              <Button leftSection={<Glyph icon={IconHistory} />} onClick={() => set({ tab: 'history' })}>
                History
              </Button>
              <More deployment={deployment} />
            </>
          )
        }
      />
      {deployment ? (
        <>
          <TabLinks
            label={`Views of ${slug}`}
            current={state.tab}
            tabs={[
              { id: 'variants', name: 'Variants', href: paths.deployment(slug) },
              { id: 'executions', name: 'Executions', href: paths.executions({ deployment: slug }) },
              {
                id: 'history',
                name: 'History',
                href: paths.deployment(slug, { tab: 'history' }),
                count: deployment.revision,
              },
            ]}
          />
          {state.tab === 'variants' ? (
            <DeploymentEditor key={slug} deployment={deployment} roles={roles.data?.items ?? null} />
          ) : (
            <DeploymentHistory deployment={deployment} />
          )}
          {state.test === '1' && <TestSession slug={slug} onClose={() => set({ test: '0' })} />}
        </>
      ) : (
        <div className="panel">
          {query.data ? (
            <EmptyView
              icon={IconGitFork}
              title={slug}
              actions={<Button onClick={() => follow(paths.deployments())}>All deployments</Button>}
            >
              <p>No deployment has this name.</p>
            </EmptyView>
          ) : query.isError ? (
            <ErrorView
              what="The deployment could not be read"
              failure={query.error}
              onRetry={() => void query.refetch()}
            />
          ) : (
            <SkeletonRows label={slug} />
          )}
        </div>
      )}
    </>
  );
}

function Meta({ deployment }: { deployment: DeploymentDetail }) {
  return (
    <>
      Revision {deployment.revision} by {deployment.updatedBy}, <Ago at={deployment.updatedAt} suffix />
      {deployment.module != null && deployment.module !== '' && (
        <>
          <Dot />
          asked for by {deployment.module}
        </>
      )}
      <Dot />
      {deployment.lastExecutionAt ? (
        <>
          last execution <Ago at={deployment.lastExecutionAt} suffix />
        </>
      ) : (
        'no execution yet'
      )}
      {deployment.description != null && deployment.description !== '' && (
        <>
          <Dot />
          {deployment.description}
        </>
      )}
    </>
  );
}

function More({ deployment }: { deployment: DeploymentDetail }) {
  const client = useQueryClient();
  const follow = useFollow();
  const need = usePermission(`deployment:${deployment.slug}:write`);
  const [asking, setAsking] = useState(false);
  const [typed, setTyped] = useState('');
  const used = deployment.lastExecutionAt != null;
  const removal = useMutation<unknown, ApiError, boolean>({
    mutationFn: (force) =>
      execute(DeleteDeploymentDocument, {
        input: { slug: deployment.slug, expectedRevision: deployment.revision, force },
      }),
    onSuccess: () => {
      showToast({ message: `${deployment.slug} deleted` });
      void client.invalidateQueries({ queryKey: ['deployments'] });
      follow(paths.deployments());
    },
    onError: (error) => {
      // That stays in the dialog, which then offers to go on.
      if (workWaits(error)) return;
      setAsking(false);
      showToast({ message: error.message });
    },
  });
  const force = workWaits(removal.error);
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <button type="button" className="icon-button" aria-label={`More actions for ${deployment.slug}`}>
            <Glyph icon={IconDots} />
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <PermittedItem
            leftSection={<Glyph icon={IconTrash} />}
            need={need}
            onClick={() => {
              removal.reset();
              setAsking(true);
            }}
          >
            Delete…
          </PermittedItem>
        </Menu.Dropdown>
      </Menu>
      {asking && (
        <Confirm
          title={`Delete ${deployment.slug}?`}
          verb={force ? `Delete ${deployment.slug} anyway` : `Delete ${deployment.slug}`}
          danger
          pending={removal.isPending}
          onConfirm={() => (!used || typed === deployment.slug) && removal.mutate(force)}
          onCancel={() => setAsking(false)}
        >
          {force && (
            <Banner tone="bad" title="Not deleted">
              {removal.error?.message}
            </Banner>
          )}
          <p>
            Calls to it fail with NOT_FOUND from then on. Executions that it started go on, and keep its name.
            {used && ' It has been called; type its name to confirm.'}
          </p>
          {used && (
            <TextInput
              mt={12}
              label="Name"
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
            />
          )}
        </Confirm>
      )}
    </>
  );
}
