import { IconSitemap } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ApiError, execute } from '../../api/client.ts';
import type { WorkflowsQuery } from '../../api/generated/graphql.ts';
import { FIRST_PAGE, neighbours, pageArgs } from '../../api/paging.ts';
import { count, plural } from '../../format.ts';
import { usePage } from '../../hooks/use-page.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { paths } from '../../paths.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { Command } from '../../ui/copy.tsx';
import { Count, PageHead, Scroll } from '../../ui/layout.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { ListRows, TableFoot } from '../../ui/table.tsx';
import { EmptyView, ErrorView, NoMatchView, SkeletonRows } from '../../ui/view-states.tsx';
import { text } from '../../url-state.ts';
import { WorkflowsDocument } from './workflow-queries.ts';

const SHAPE = { q: text(), after: text(), before: text() };

export function WorkflowsPage() {
  usePage([{ name: 'Workflows' }]);
  const [state, set] = useUrlState(SHAPE);
  const variables = { ...pageArgs(state, 50), search: state.q === '' ? null : state.q };
  const query = useQuery<WorkflowsQuery, ApiError>({
    queryKey: ['workflows', 'list', variables],
    queryFn: ({ signal }) => execute(WorkflowsDocument, variables, { signal }),
    placeholderData: keepPreviousData,
  });
  const page = query.data?.workflows;
  const near = page && neighbours(state, page.pageInfo);
  return (
    <>
      <PageHead
        title={<>Workflows{page && !query.isPlaceholderData && <Count>{count(page.totalCount)}</Count>}</>}
        meta="What is executed. Workers register versions when they start; a version never changes."
      />
      <div className="tools">
        <SearchField
          label="Search workflows"
          placeholder="Namespace or name"
          value={state.q}
          onSearch={(q) => set({ q, ...FIRST_PAGE }, 'replace')}
        />
      </div>
      <div className="panel">
        {query.isPending ? (
          <SkeletonRows label="workflows" />
        ) : !page || !near ? (
          query.error && (
            <ErrorView what="Workflows could not be read" failure={query.error} onRetry={() => void query.refetch()} />
          )
        ) : page.nodes.length > 0 ? (
          <ListRows replaced={query.isPlaceholderData} label="workflows">
            <Rows rows={page.nodes} />
            <TableFoot
              busy={query.isPlaceholderData}
              onPrevious={near.previous && (() => set(near.previous ?? FIRST_PAGE))}
              onNext={near.next && (() => set(near.next ?? FIRST_PAGE))}
            >
              {plural(page.totalCount, 'workflow')}
            </TableFoot>
          </ListRows>
        ) : query.isPlaceholderData ? (
          <SkeletonRows label="workflows" />
        ) : state.q !== '' ? (
          <NoMatchView onClear={() => set({ q: '', ...FIRST_PAGE })}>
            No workflow has “{state.q}” in its name.
          </NoMatchView>
        ) : (
          <EmptyView icon={IconSitemap} title="No workflow is registered yet">
            <p>A worker registers the workflows it has handlers for when it starts.</p>
            <Command text="npx muster worker start ./workflows.ts" />
          </EmptyView>
        )}
      </div>
    </>
  );
}

function Rows({ rows }: { rows: WorkflowsQuery['workflows']['nodes'] }) {
  return (
    <Scroll label="Workflows, table">
      <table className="tb policies">
        <caption className="sr">{rows.length} workflows</caption>
        <thead>
          <tr>
            <th scope="col" className="pin">
              Workflow
            </th>
            <th scope="col" className="r">
              Latest
            </th>
            <th scope="col">Routing</th>
            <th scope="col">Constraints</th>
            <th scope="col">Used by</th>
            <th scope="col" className="r">
              Registered
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row" className="pin">
                <Anchor href={paths.workflow(row.ref)}>{row.ref}</Anchor>
              </th>
              <td className="r">v{row.latest.number}</td>
              <td>
                <PolicyLine text={row.latest.routingText} none="least loaded" />
              </td>
              <td>
                <PolicyLine text={row.latest.affinityText} none="none" />
              </td>
              <td>
                {[...new Set(row.variants.map((variant) => variant.deployment.slug))].map((slug, index) => (
                  <span key={slug}>
                    {index > 0 && ', '}
                    <Anchor className="l" href={paths.deployment(slug)}>
                      {slug}
                    </Anchor>
                  </span>
                ))}
                {row.variants.length === 0 && <span className="mute">no deployment</span>}
              </td>
              <td className="r mute">
                <Ago at={row.latest.createdAt} suffix /> · {row.latest.createdBy}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** A policy in one line, without the space that a broken line leaves inside a bracket. */
function oneLine(policy: string): string {
  return policy
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?<=[([]) | (?=[)\]])/g, '')
    .trim();
}

function PolicyLine({ text: policy, none }: { text: string | null | undefined; none: string }) {
  if (!policy) return <span className="mute">{none}</span>;
  return (
    <span className="why-cell mono" title={policy}>
      {oneLine(policy)}
    </span>
  );
}
