import type { Page } from '../../graphql/connection.ts';
import type { Count } from '../../graphql/page-rows.ts';
import { mayReadNamed, readableNames } from '../viewer/readable.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { ScheduleRow } from './schedule-row.ts';
import type { ScheduleFilter, ScheduleStore } from './schedule-store.ts';

/** Schedules as a viewer sees them: those with `schedule:{name}:read`; the others are not there. */
export class ScheduleReads {
  readonly #store: ScheduleStore;

  constructor(store: ScheduleStore) {
    this.#store = store;
  }

  async byName(name: string, viewer: Viewer): Promise<ScheduleRow | null> {
    return mayReadNamed(viewer, 'schedule', name) ? this.#store.byName(name) : null;
  }

  async byIds(ids: readonly number[], viewer: Viewer): Promise<Map<number, ScheduleRow>> {
    const found = await this.#store.byIds(ids);
    for (const [id, { name }] of found) if (!mayReadNamed(viewer, 'schedule', name)) found.delete(id);
    return found;
  }

  page(page: Page, filter: ScheduleFilter, viewer: Viewer): Promise<{ items: ScheduleRow[]; more: boolean }> {
    return this.#store.page(page, filter, readableNames(viewer, 'schedule'));
  }

  count(filter: ScheduleFilter, viewer: Viewer): Promise<Count> {
    return this.#store.count(filter, readableNames(viewer, 'schedule'));
  }
}
