import { Button } from '@mantine/core';
import { IconPlayerPlay, IconSitemap } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ApiError, execute } from '../../api/client.ts';
import { usePermission, workflowPermission } from '../../api/viewer.ts';
import type { WorkflowQuery } from '../../api/generated/graphql.ts';
import { bytes } from '../../format.ts';
import { usePage } from '../../hooks/use-page.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { paths } from '../../paths.ts';
import { status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor, useFollow } from '../../ui/anchor.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Dot, Facts, PageHead, Panel, Scroll } from '../../ui/layout.tsx';
import { PermittedButton } from '../../ui/permitted.tsx';
import { breakArguments, PolicyText } from '../../ui/policy-text.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { EmptyView, ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { text } from '../../url-state.ts';
import { type WorkflowDetail, WorkflowDocument, type WorkflowVersion } from './workflow-queries.ts';

const SHAPE = { version: text() };

export function WorkflowPage() {
  const { namespace = '', name = '' } = useParams({ strict: false });
  const ref = `${namespace}/${name}`;
  usePage([{ name: 'Workflows', href: paths.workflows() }, { name: ref }]);
  const [state] = useUrlState(SHAPE);
  const follow = useFollow();
  const mayRun = usePermission(workflowPermission(ref, 'run'));
  const query = useQuery<WorkflowQuery, ApiError>({
    queryKey: ['workflows', 'one', ref],
    queryFn: ({ signal }) => execute(WorkflowDocument, { ref }, { signal }),
  });
  const workflow = query.data?.workflow;
  const wanted = Number.parseInt(state.version, 10);
  const version =
    workflow?.versions.nodes.find((each) => each.number === wanted) ??
    workflow?.versions.nodes.find((each) => each.number === workflow.latest.number);
  return (
    <>
      <PageHead
        title={query.data?.workflow === null ? 'Workflow not found' : ref}
        badge={version && <span className="st pill st-neutral">v{version.number}</span>}
        meta={
          workflow &&
          version && (
            <>
              {version.number === workflow.latest.number ? 'latest version' : `latest is v${workflow.latest.number}`}
              <Dot />
              registered by {version.createdBy}, <Ago at={version.createdAt} suffix />
              {workflow.description != null && workflow.description !== '' && (
                <>
                  <Dot />
                  {workflow.description}
                </>
              )}
            </>
          )
        }
        actions={
          workflow && (
            <>
              <PermittedButton
                need={mayRun}
                leftSection={<Glyph icon={IconPlayerPlay} />}
                onClick={() => follow(paths.executionNew({ workflow: ref }))}
              >
                Run
              </PermittedButton>
              <Button onClick={() => follow(paths.executions({ workflow: ref }))}>Executions</Button>
            </>
          )
        }
      />
      {workflow && version ? (
        <Detail workflow={workflow} version={version} />
      ) : (
        <div className="panel">
          {query.data ? (
            <EmptyView
              icon={IconSitemap}
              title={ref}
              actions={<Button onClick={() => follow(paths.workflows())}>All workflows</Button>}
            >
              <p>No workflow of this name is registered.</p>
            </EmptyView>
          ) : query.isError ? (
            <ErrorView
              what="The workflow could not be read"
              failure={query.error}
              onRetry={() => void query.refetch()}
            />
          ) : (
            <SkeletonRows label={ref} />
          )}
        </div>
      )}
    </>
  );
}

function Detail({ workflow, version }: { workflow: WorkflowDetail; version: WorkflowVersion }) {
  return (
    <>
      <Facts
        facts={[
          { label: 'Runner', value: version.runner ?? 'any' },
          { label: 'Attempts', value: `at most ${version.maxAttempts}` },
          { label: 'Timeout', value: version.timeoutSeconds == null ? 'none' : `${version.timeoutSeconds} s` },
          { label: 'Requests', value: requestsLine(version.requests) },
        ]}
      />
      <div className="grid g53 start-aligned">
        <div className="grid">
          <Panel
            title="Routing policy"
            aside={
              version.routingText ? (
                <CopyButton text={version.routingText} label="Copy routing policy" />
              ) : (
                'soft, ranks'
              )
            }
          >
            {version.routingText ? (
              <PolicyText text={breakArguments(version.routingText)} label="Routing policy text" />
            ) : (
              <p className="mute">None: the least loaded of the eligible workers takes it.</p>
            )}
          </Panel>
          <Panel
            title="Affinity"
            aside={
              version.affinityText ? <CopyButton text={version.affinityText} label="Copy affinity" /> : 'hard, filters'
            }
          >
            {version.affinityText ? (
              <PolicyText text={breakArguments(version.affinityText)} label="Affinity text" />
            ) : (
              <p className="mute">None: every worker that has a handler and a free slot is eligible.</p>
            )}
          </Panel>
          <UsedBy workflow={workflow} />
        </div>
        <Panel title="Versions" count={workflow.versions.totalCount} flush>
          <Scroll label="Versions, table">
            <table className="tb">
              <thead>
                <tr>
                  <th scope="col">Version</th>
                  <th scope="col">Policy</th>
                  <th scope="col" className="r">
                    Registered
                  </th>
                </tr>
              </thead>
              <tbody>
                {workflow.versions.nodes
                  .toSorted((a, b) => b.number - a.number)
                  .map((each) => (
                    <tr key={each.id}>
                      <th scope="row">
                        <Anchor
                          href={paths.workflow(
                            workflow.ref,
                            each.number === workflow.latest.number ? {} : { version: String(each.number) },
                          )}
                          aria-current={each.id === version.id ? 'true' : undefined}
                        >
                          v{each.number}
                        </Anchor>
                        {each.id === version.id && <span className="mute"> shown</span>}
                      </th>
                      <td className="mute">
                        {[each.routingText && 'routing', each.affinityText && 'affinity', each.requests && 'requests']
                          .filter(Boolean)
                          .join(', ') || 'least loaded'}
                      </td>
                      <td className="r mute">
                        <Ago at={each.createdAt} suffix />
                      </td>
                    </tr>
                  ))}
              </tbody>
            </table>
          </Scroll>
        </Panel>
      </div>
    </>
  );
}

function UsedBy({ workflow }: { workflow: WorkflowDetail }) {
  return (
    <Panel title="Used by" count={workflow.variants.length} flush>
      {workflow.variants.length === 0 ? (
        <p className="note">No deployment has a variant that runs this workflow.</p>
      ) : (
        <Scroll label="Variants that use it, table">
          <table className="tb">
            <thead>
              <tr>
                <th scope="col">Deployment</th>
                <th scope="col">Variant</th>
                <th scope="col">Version</th>
                <th scope="col" className="r">
                  Weight
                </th>
                <th scope="col">Target roles</th>
                <th scope="col">Health</th>
              </tr>
            </thead>
            <tbody>
              {workflow.variants.map((variant) => (
                <tr key={`${variant.deployment.slug} ${variant.label}`}>
                  <th scope="row">
                    <Anchor href={paths.deployment(variant.deployment.slug)}>{variant.deployment.slug}</Anchor>
                  </th>
                  <td>{variant.label}</td>
                  <td>{variant.versionId == null ? 'latest' : `v${variant.version?.number ?? '?'}`}</td>
                  <td className="r">{variant.weight.toLocaleString('en-US')}</td>
                  <td>
                    {variant.targetRoles.length === 0 ? (
                      <span className="mute">any</span>
                    ) : (
                      variant.targetRoles.join(' or ')
                    )}
                  </td>
                  <td>
                    <StatusBadge look={status.deployment[variant.deployment.health]} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Panel>
  );
}

function requestsLine(requests: WorkflowVersion['requests']): string {
  if (!requests) return 'none';
  const parts = [
    requests.cpu != null && `${requests.cpu} cores`,
    requests.memory != null && (requests.memoryText ?? bytes(requests.memory)),
    requests.disk != null && `${bytes(requests.disk)} disk`,
    requests.gpu != null && `${requests.gpu} GPU`,
    ...requests.packages,
  ].filter((part) => part !== false);
  return parts.join(', ') || 'none';
}
