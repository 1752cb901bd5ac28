import { isMetadataKey, type JsonObject, mergeMetadata, MusterError, type WorkerAvailability } from '@muster/core';
import type { Fleet } from '../../fleet/fleet.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import { authorOf } from '../audit/audit-log.ts';
import { requirePermission, type Viewer } from '../viewer/viewer.ts';
import type { OperatorStore } from './operator-store.ts';
import type { Registry } from './registry.ts';
import type { ReleaseWorker } from './release-worker.ts';

export interface WorkerServiceOptions {
  fleet: Fleet;
  registry: Registry;
  store: OperatorStore;
  /** Something may have become placeable (ruling 28). */
  wake: (reason: string) => void;
  releaseWorker: ReleaseWorker;
  /** These credentials of workers are good no more. */
  credentialsEnded: (ids: readonly number[]) => void;
}

/** What operators do to workers. Every change is audited in its own transaction. */
export class WorkerService {
  readonly #o: WorkerServiceOptions;

  constructor(options: WorkerServiceOptions) {
    this.#o = options;
  }

  /**
   * Merges `patch` into the worker's metadata, or puts it in its place.
   * Errors: FORBIDDEN; NOT_FOUND; BAD_INPUT with every problem (ruling 27).
   */
  async setMetadata(
    name: string,
    patch: JsonObject,
    replace: boolean,
    viewer: Viewer,
    requestId: string,
  ): Promise<FleetWorker> {
    const worker = this.#registered(name, viewer);
    await this.#o.store.changeMetadata(worker.id, authorOf(viewer, requestId), (current) => {
      const { value, issues } = mergeMetadata(current, patch, replace, 'metadata');
      if (issues.length > 0)
        throw new MusterError('BAD_INPUT', 'The metadata cannot be stored as it stands.', { issues });
      return value;
    });
    return this.#changed(name, 'metadata written');
  }

  /** Keys that are not there are fine. Errors: FORBIDDEN; NOT_FOUND; BAD_INPUT where neither keys nor `all` are given. */
  async unsetMetadata(
    name: string,
    keys: readonly string[],
    all: boolean,
    viewer: Viewer,
    requestId: string,
  ): Promise<FleetWorker> {
    if (keys.length === 0 && !all) {
      throw new MusterError('BAD_INPUT', 'Name at least one key, or say all: true.', { field: 'keys' });
    }
    const worker = this.#registered(name, viewer);
    const gone = new Set(keys.filter(isMetadataKey));
    await this.#o.store.changeMetadata(
      worker.id,
      authorOf(viewer, requestId),
      (current) => new Map(all ? [] : [...current].filter(([key]) => !gone.has(key))),
    );
    return this.#changed(name, 'metadata written');
  }

  /** Errors: FORBIDDEN, NOT_FOUND. */
  async setAvailability(
    name: string,
    availability: WorkerAvailability,
    viewer: Viewer,
    requestId: string,
  ): Promise<FleetWorker> {
    const worker = this.#registered(name, viewer);
    await this.#o.store.setAvailability(worker.id, availability, authorOf(viewer, requestId));
    return this.#changed(name, 'availability changed');
  }

  /**
   * Takes the worker off the list; what it held is released at once. It may register again under the same name.
   * Errors: FORBIDDEN, NOT_FOUND.
   */
  async remove(name: string, viewer: Viewer, requestId: string): Promise<void> {
    const worker = this.#registered(name, viewer);
    this.#o.credentialsEnded(await this.#o.store.remove(worker.id, authorOf(viewer, requestId)));
    await this.#o.registry.changed(name);
    await this.#o.releaseWorker({
      workerId: worker.id,
      instance: null,
      cause: 'REMOVED',
      message: `the worker was removed by ${viewer.name}`,
    });
  }

  /** Takes the worker off duty, whatever process has its name, and gives away what it holds. `why`: one clause. */
  async dismiss(name: string, why: string): Promise<void> {
    await this.#o.registry.dismiss(name, why);
  }

  /** Permission before existence, so that names cannot be probed. */
  #registered(name: string, viewer: Viewer): FleetWorker {
    requirePermission(viewer, `worker:${name}:manage`, 'worker');
    const worker = this.#o.fleet.get(name);
    if (worker === undefined || !worker.registered)
      throw new MusterError('NOT_FOUND', 'There is no such worker.', { field: 'worker' });
    return worker;
  }

  async #changed(name: string, reason: string): Promise<FleetWorker> {
    const worker = await this.#o.registry.changed(name);
    if (worker === undefined)
      throw new MusterError('NOT_FOUND', 'The worker has been removed meanwhile.', { field: 'worker' });
    this.#o.wake(reason);
    return worker;
  }
}
