import type { Page } from '../../graphql/connection.ts';
import type { Count } from '../../graphql/page-rows.ts';
import { mayReadWorkflow, readableWorkflows } from '../viewer/readable.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { VersionRow, WorkflowRow, WorkflowStore } from './workflow-store.ts';

/** For how long it is remembered which versions there are; a new one is told of by the bus. */
const REMEMBERED_MS = 1_000;
const MAX_REMEMBERED = 1_000;

/** Workflows and versions as a viewer sees them: what he may not read is not there. */
export class WorkflowReads {
  readonly #store: WorkflowStore;
  readonly #now: () => number;
  readonly #readable = new Map<string, { until: number; ids: Promise<readonly number[]> }>();

  /** `now` is monotonic, ms. */
  constructor(store: WorkflowStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** There is another version. */
  forget(): void {
    this.#readable.clear();
  }

  async byIds(ids: readonly number[], viewer: Viewer): Promise<Map<number, WorkflowRow>> {
    return onlyReadable(await this.#store.byIds(ids), ({ ref }) => ref, viewer);
  }

  async byRefs(refs: readonly string[], viewer: Viewer): Promise<Map<string, WorkflowRow>> {
    const readable = refs.filter((ref) => mayReadWorkflow(viewer, ref));
    return readable.length === 0 ? new Map() : this.#store.byRefs(readable);
  }

  async versionsByIds(ids: readonly number[], viewer: Viewer): Promise<Map<number, VersionRow>> {
    return onlyReadable(await this.#store.versionsByIds(ids), ({ workflowRef }) => workflowRef, viewer);
  }

  page(page: Page, search: string | null, viewer: Viewer): Promise<{ items: WorkflowRow[]; more: boolean }> {
    return this.#store.page(page, search, readableWorkflows(viewer));
  }

  count(search: string | null, viewer: Viewer): Promise<Count> {
    return this.#store.count(search, readableWorkflows(viewer));
  }

  /** Ids of the versions of the workflows that a filter names and the viewer may read, newest first, at most 20,000. */
  versionIds(filter: { ref?: string | undefined; namespace?: string | undefined }, viewer: Viewer): Promise<number[]> {
    return this.#store.versionIds({ ...filter, readable: readableWorkflows(viewer) });
  }

  /** Ids of all versions that the viewer may read, as above; null: of every workflow. */
  async readableVersions(viewer: Viewer): Promise<readonly number[] | null> {
    const readable = readableWorkflows(viewer);
    if (readable === 'all') return null;
    if (readable.length === 0) return [];
    const key = JSON.stringify(readable);
    const known = this.#readable.get(key);
    if (known && known.until > this.#now()) return known.ids;
    const ids = this.#store.versionIds({ readable });
    if (this.#readable.size >= MAX_REMEMBERED) this.#readable.clear();
    this.#readable.set(key, { until: this.#now() + REMEMBERED_MS, ids });
    ids.catch(() => this.#readable.delete(key));
    return ids;
  }
}

function onlyReadable<K, T>(found: Map<K, T>, refOf: (item: T) => string, viewer: Viewer): Map<K, T> {
  for (const [key, item] of found) if (!mayReadWorkflow(viewer, refOf(item))) found.delete(key);
  return found;
}
