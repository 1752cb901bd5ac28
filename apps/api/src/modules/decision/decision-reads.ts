import { isBlind, mayReadExecutions, mayReadWorkflow } from '../viewer/readable.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { WorkflowReads } from '../workflow/workflow-reads.ts';
import type { WorkflowStore } from '../workflow/workflow-store.ts';
import type {
  DecisionFilter,
  DecisionPage,
  DecisionPageRequest,
  DecisionReader,
  StoredDecision,
} from './stored-decision.ts';

export interface DecisionReadsDeps {
  reader: DecisionReader;
  workflows: WorkflowReads;
  versions: Pick<WorkflowStore, 'versionsByIds'>;
}

const NOTHING: DecisionPage = { items: [], more: false, exhausted: true, cursor: null };

/** Decisions as a viewer sees them: those on executions that he may read; an execution's token sees none (ruling 20). */
export class DecisionReads {
  readonly #deps: DecisionReadsDeps;

  constructor(deps: DecisionReadsDeps) {
    this.#deps = deps;
  }

  async byIds(ids: readonly string[], viewer: Viewer): Promise<Map<string, StoredDecision>> {
    return mayRead(viewer) ? this.#only(await this.#deps.reader.byIds(ids), viewer) : new Map();
  }

  async latestByExecutions(executionIds: readonly string[], viewer: Viewer): Promise<Map<string, StoredDecision>> {
    return mayRead(viewer) ? this.#only(await this.#deps.reader.latestByExecutions(executionIds), viewer) : new Map();
  }

  /** Keyed `<executionId>:<generation>`. */
  async byGenerations(
    keys: readonly { executionId: string; generation: number }[],
    viewer: Viewer,
  ): Promise<Map<string, StoredDecision>> {
    return mayRead(viewer) ? this.#only(await this.#deps.reader.byGenerations(keys), viewer) : new Map();
  }

  async page(filter: DecisionFilter, request: DecisionPageRequest, viewer: Viewer): Promise<DecisionPage> {
    const narrowed = await this.#narrow(filter, viewer);
    if (narrowed === null) return NOTHING;
    const { executionId, ...others } = narrowed;
    const alone = Object.values(others).every((value) => value === undefined);
    return executionId !== undefined && alone
      ? this.#deps.reader.byExecution(executionId, request)
      : this.#deps.reader.list(narrowed, request);
  }

  async count(filter: DecisionFilter, viewer: Viewer): Promise<{ count: number; exact: boolean }> {
    const narrowed = await this.#narrow(filter, viewer);
    return narrowed === null ? { count: 0, exact: true } : this.#deps.reader.count(narrowed);
  }

  async #only<K>(found: Map<K, StoredDecision>, viewer: Viewer): Promise<Map<K, StoredDecision>> {
    const versions = await this.#deps.versions.versionsByIds([...found.values()].map(({ versionId }) => versionId));
    for (const [key, { versionId }] of found) {
      const ref = versions.get(versionId)?.workflowRef;
      if (ref === undefined || !mayReadWorkflow(viewer, ref)) found.delete(key);
    }
    return found;
  }

  async #narrow(filter: DecisionFilter, viewer: Viewer): Promise<DecisionFilter | null> {
    if (!mayRead(viewer)) return null;
    const readable = await this.#deps.workflows.readableVersions(viewer);
    if (readable === null) return filter;
    const these = new Set(readable);
    const both = filter.versionIds === undefined ? readable : filter.versionIds.filter((id) => these.has(id));
    return both.length === 0 ? null : { ...filter, versionIds: both };
  }
}

function mayRead(viewer: Viewer): boolean {
  return mayReadExecutions(viewer) && !isBlind(viewer);
}
