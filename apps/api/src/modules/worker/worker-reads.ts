import type { Fleet } from '../../fleet/fleet.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import { mayReadNamed, readableNames } from '../viewer/readable.ts';
import type { Viewer } from '../viewer/viewer.ts';

/** Workers as a viewer sees them: those with `worker:{name}:read`; the others are not there. */
export class WorkerReads {
  readonly #fleet: Pick<Fleet, 'get' | 'byId' | 'all'>;

  constructor(fleet: Pick<Fleet, 'get' | 'byId' | 'all'>) {
    this.#fleet = fleet;
  }

  get(name: string, viewer: Viewer): FleetWorker | null {
    return mayReadNamed(viewer, 'worker', name) ? (this.#fleet.get(name) ?? null) : null;
  }

  byId(id: number, viewer: Viewer): FleetWorker | null {
    const worker = this.#fleet.byId(id);
    return worker && mayReadNamed(viewer, 'worker', worker.facts.name) ? worker : null;
  }

  /** In no order. */
  all(viewer: Viewer): FleetWorker[] {
    const names = readableNames(viewer, 'worker');
    if (names === 'all') return this.#fleet.all();
    return [...names].flatMap((name) => this.#fleet.get(name) ?? []);
  }
}
