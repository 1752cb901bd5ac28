import { MusterError } from '@muster/core';
import type { Context } from '../../graphql/context.ts';
import { decodeUuid, encodeId } from '../../graphql/ids.ts';
import type { EventRow } from '../../modules/execution/execution-rows.ts';
import { describeWhy } from '../../modules/execution/execution-view.ts';
import { isoTime } from './iso-time.ts';

/** The raw id of an execution in an address. Errors: NOT_FOUND for what cannot be one. */
export function executionIdOf(id: string): string {
  const raw = decodeUuid('ex', id);
  if (raw === null) throw noExecution();
  return raw;
}

/**
 * An execution as the REST routes show it, in the words of the GraphQL type. `found`: how it was come by: looked up, or just started or acted on by this
 * request, which shows it whatever else the viewer may read. Errors: NOT_FOUND.
 */
export async function executionJson(
  id: string,
  context: Context,
  found: 'execution' | 'acted' = 'execution',
): Promise<Record<string, unknown>> {
  const { loaders, services, viewer } = context;
  const row = await loaders[found].load(id);
  if (row === null) throw noExecution();
  const [version, payload, latest] = await Promise.all([
    loaders.versionFacts.load(row.versionId),
    loaders.payload.load(id),
    loaders.latestDecision.load(id),
  ]);
  const deployment = row.deploymentId === null ? null : services.deploymentReads.byId(row.deploymentId, viewer);
  const globalId = (raw: string | null): string | null => (raw === null ? null : encodeId('ex', raw));
  return {
    id: encodeId('ex', row.id),
    workflowRef: version?.workflowRef ?? '',
    version: version?.number ?? null,
    deployment: deployment?.slug ?? null,
    variantLabel: row.variant,
    targetRoles: row.targetRoles,
    sessionKey: row.sessionKey,
    state: row.state,
    why: describeWhy(row, latest, version?.maxAttempts ?? 1),
    parked: row.parked,
    parkedReason: row.parkedReason,
    parkedSince: isoTime(row.parkedSince),
    parkDeadline: isoTime(row.parkDeadline),
    waitingFor:
      row.waiting === null
        ? null
        : { kind: row.waiting, name: row.waitingName, until: isoTime(row.wakeAt), child: globalId(row.waitingChild) },
    input: payload.input,
    output: payload.output,
    error: row.error && {
      type: row.error.type,
      message: row.error.message,
      stack: row.error.stack ?? null,
      retryable: row.error.retryable ?? false,
    },
    workerName: row.workerName,
    requiredWorker: row.requiredWorker,
    preferredWorker: row.preferredWorker,
    priority: row.priority,
    attempt: row.attempt,
    maxAttempts: version?.maxAttempts ?? 1,
    generation: row.generation,
    revision: row.revision,
    parent: globalId(row.parentId),
    retryOf: globalId(row.retryOf),
    submittedBy: row.submittedBy,
    createdAt: isoTime(row.createdAt),
    scheduledAt: isoTime(row.scheduledAt),
    claimedAt: isoTime(row.claimedAt),
    startedAt: isoTime(row.startedAt),
    finishedAt: isoTime(row.finishedAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

/** An entry of an execution's history. */
export function eventJson(event: EventRow): Record<string, unknown> {
  return {
    id: encodeId('ev', `${event.executionId}-${event.sequence}`),
    executionId: encodeId('ex', event.executionId),
    sequence: event.sequence,
    type: event.type,
    at: isoTime(event.at),
    worker: event.worker,
    data: event.data,
  };
}

export function noExecution(): MusterError {
  return new MusterError('NOT_FOUND', 'There is no such execution.', { field: 'id' });
}
