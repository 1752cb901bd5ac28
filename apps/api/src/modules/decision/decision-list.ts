import type { Context } from '../../graphql/context.ts';
import { type Connection, connectionOf, encodeCursor, type PageArgs, pageOf } from '../../graphql/connection.ts';
import { decodeUuid } from '../../graphql/ids.ts';
import type { DecisionFilter, StoredDecision } from './stored-decision.ts';

/** As the API takes it. */
export interface DecisionFilterArgs {
  outcomes?: readonly StoredDecision['decision']['outcome'][] | null | undefined;
  workflow?: string | null | undefined;
  worker?: string | null | undefined;
  execution?: string | null | undefined;
  after?: Date | null | undefined;
  before?: Date | null | undefined;
  deployment?: string | null | undefined;
  winner?: string | null | undefined;
  candidate?: string | null | undefined;
  blinded?: boolean | null | undefined;
  degraded?: boolean | null | undefined;
}

const ORDER = 'decisions';

/** Names become keys. null: something is named that does not exist, so nothing matches. */
export async function resolveDecisionFilter(
  args: DecisionFilterArgs | null | undefined,
  { services, viewer }: Pick<Context, 'services' | 'viewer'>,
): Promise<DecisionFilter | null> {
  if (!args) return {};
  const filter: DecisionFilter = {
    outcomes: args.outcomes ?? undefined,
    blinded: args.blinded ?? undefined,
    degraded: args.degraded ?? undefined,
    after: args.after ?? undefined,
    before: args.before ?? undefined,
  };
  if (args.execution != null) {
    const id = decodeUuid('ex', args.execution);
    if (id === null) return null;
    filter.executionId = id;
  }
  if (args.deployment != null) {
    const deployment = services.deploymentReads.get(args.deployment, viewer);
    if (!deployment) return null;
    filter.deploymentId = deployment.id;
  }
  if (args.workflow != null) {
    const ref = args.workflow.includes('/') ? args.workflow : `default/${args.workflow}`;
    filter.versionIds = await services.workflowReads.versionIds({ ref }, viewer);
    if (filter.versionIds.length === 0) return null;
  }
  for (const key of ['worker', 'winner', 'candidate'] as const) {
    const name = args[key];
    if (name == null) continue;
    if (/\0|\p{Surrogate}/u.test(name)) return null;
    const [id] = await services.executionReads.workerIds({ name });
    if (id === undefined) return null;
    filter[key] = id;
  }
  return filter;
}

/** One page of decisions, newest first. `filter` null: nothing matches. */
export async function decisionConnection(
  context: Context,
  args: PageArgs,
  filter: DecisionFilter | null,
): Promise<Connection<StoredDecision>> {
  const { services, viewer } = context;
  const { decisions } = services;
  const page = pageOf(args, ORDER, ['uuid'], context);
  if (filter === null)
    return connectionOf(page, ORDER, [], false, keysOf, () => Promise.resolve({ count: 0, exact: true }));
  const request = {
    limit: page.limit,
    after: page.after === null ? undefined : String(page.after[0]),
    before: page.before === null ? undefined : String(page.before[0]),
    backward: page.backward,
  };
  const found = await decisions.page(filter, request, viewer);
  const connection = connectionOf(page, ORDER, found.items, found.more, keysOf, () => decisions.count(filter, viewer));
  if (!found.exhausted && found.cursor !== null) {
    connection.pageInfo[page.backward ? 'startCursor' : 'endCursor'] = encodeCursor(ORDER, [found.cursor]);
  }
  return connection;
}

function keysOf(decision: StoredDecision): string[] {
  return [decision.id];
}
