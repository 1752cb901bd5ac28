import type { Page } from '../../graphql/connection.ts';
import type { Count } from '../../graphql/page-rows.ts';
import { isBlind, mayReadExecutions, mayReadWorkflow } from '../viewer/readable.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { WorkflowReads } from '../workflow/workflow-reads.ts';
import type { WorkflowStore } from '../workflow/workflow-store.ts';
import { blindError, blindEvent, blindRow } from './blinding.ts';
import type { ExecutionQuery } from './execution-filter.ts';
import type { ExecutionPage, ExecutionReader } from './execution-reader.ts';
import type { AttemptRow, EventRow, ExecutionRow } from './execution-rows.ts';

export interface ExecutionReadsDeps {
  reader: ExecutionReader;
  workflows: WorkflowReads;
  versions: Pick<WorkflowStore, 'versionsByIds'>;
}

type StateCount = { state: ExecutionRow['state']; count: number; parked: number };

/**
 * Executions as a viewer sees them: with `execution:*:read`, those of the workflows that he may read; an execution's token without what it must not
 * learn. Ids are raw. What takes an id alone is for executions that were found here before.
 */
export class ExecutionReads {
  readonly #deps: ExecutionReadsDeps;

  constructor(deps: ExecutionReadsDeps) {
    this.#deps = deps;
  }

  async byIds(ids: readonly string[], viewer: Viewer): Promise<Map<string, ExecutionRow>> {
    if (!mayReadExecutions(viewer)) return new Map();
    const found = await this.#deps.reader.byIds(ids);
    const versions = await this.#deps.versions.versionsByIds([...found.values()].map(({ versionId }) => versionId));
    for (const [id, { versionId }] of found) {
      const ref = versions.get(versionId)?.workflowRef;
      if (ref === undefined || !mayReadWorkflow(viewer, ref)) found.delete(id);
    }
    return shown(found, viewer);
  }

  /** What the viewer himself has just started, or acted on: the answer to that shows it, whatever else he may read. */
  async acted(ids: readonly string[], viewer: Viewer): Promise<Map<string, ExecutionRow>> {
    return shown(await this.#deps.reader.byIds(ids), viewer);
  }

  async page(query: ExecutionQuery, page: Page, viewer: Viewer): Promise<ExecutionPage> {
    const narrowed = await this.#narrow(query, viewer);
    if (narrowed === null) return { items: [], more: false, cursor: null };
    const found = await this.#deps.reader.page(narrowed, page);
    return isBlind(viewer) ? { ...found, items: found.items.map(blindRow) } : found;
  }

  async count(query: ExecutionQuery, viewer: Viewer): Promise<Count> {
    const narrowed = await this.#narrow(query, viewer);
    return narrowed === null ? { count: 0, exact: true } : this.#deps.reader.count(narrowed);
  }

  async counts(query: ExecutionQuery, viewer: Viewer): Promise<StateCount[]> {
    const narrowed = await this.#narrow(query, viewer);
    if (narrowed === null) return [];
    const filtered = Object.values(narrowed).some((value) => value !== undefined);
    return this.#deps.reader.counts(narrowed, filtered);
  }

  payloads(ids: readonly string[]): ReturnType<ExecutionReader['payloads']> {
    return this.#deps.reader.payloads(ids);
  }

  async attempts(ids: readonly string[], viewer: Viewer): Promise<Map<string, AttemptRow[]>> {
    const found = await this.#deps.reader.attempts(ids);
    if (!isBlind(viewer)) return found;
    const blinded = (row: AttemptRow): AttemptRow => ({ ...row, error: blindError(row.error) });
    return new Map([...found].map(([id, rows]) => [id, rows.map(blinded)]));
  }

  async events(executionId: string, afterSequence: number, limit: number, viewer: Viewer): Promise<EventRow[]> {
    const rows = await this.#deps.reader.events(executionId, afterSequence, limit);
    return isBlind(viewer) ? rows.map(blindEvent) : rows;
  }

  async event(executionId: string, sequence: number, viewer: Viewer): Promise<EventRow | null> {
    if (!(await this.byIds([executionId], viewer)).has(executionId)) return null;
    const [row] = await this.events(executionId, sequence - 1, 1, viewer);
    return row?.sequence === sequence ? row : null;
  }

  eventCount(executionId: string): Promise<Count> {
    return this.#deps.reader.eventCount(executionId);
  }

  /** Ids of workers by name or role, for filters: what they had stays findable, though they are removed. */
  workerIds(by: { name: string } | { role: string }): Promise<number[]> {
    return this.#deps.reader.workerIds(by);
  }

  /** null: nothing that the viewer may read can match. Executions that are named are looked at one by one, others are narrowed by version. */
  async #narrow(query: ExecutionQuery, viewer: Viewer): Promise<ExecutionQuery | null> {
    if (!mayReadExecutions(viewer)) return null;
    if (isBlind(viewer) && query.requiredWorker !== undefined) return null;
    const readable = await this.#deps.workflows.readableVersions(viewer);
    if (readable === null) return query;
    if (query.ids !== undefined) {
      const ids = [...(await this.byIds(query.ids, viewer)).keys()];
      return ids.length === 0 ? null : { ...query, ids };
    }
    const { versionIds } = query;
    const these = new Set(readable);
    const both = versionIds === undefined ? readable : versionIds.filter((id) => these.has(id));
    return both.length === 0 ? null : { ...query, versionIds: both };
  }
}

function shown(found: Map<string, ExecutionRow>, viewer: Viewer): Map<string, ExecutionRow> {
  return isBlind(viewer) ? new Map([...found].map(([id, row]) => [id, blindRow(row)])) : found;
}
