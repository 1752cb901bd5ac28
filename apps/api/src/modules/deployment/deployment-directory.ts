import type { Bus } from '../../bus/bus.ts';
import type { Log } from '../../log.ts';
import type { DeploymentRow, DeploymentStore } from './deployment-store.ts';

const TICK_MS = 5_000;

/**
 * All deployments in memory: they are few, every call resolves one, and their lists are filtered by health, which only memory knows. Kept
 * up to date by the bus; what the bus loses, a tick finds by revision.
 */
export class DeploymentDirectory {
  readonly #store: DeploymentStore;
  readonly #bus: Bus;
  readonly #log: Log;
  readonly #bySlug = new Map<string, DeploymentRow>();
  readonly #byId = new Map<number, DeploymentRow>();
  readonly #listeners = new Set<(id: number) => void>();
  #stop: (() => void)[] = [];
  #healing = false;

  constructor(store: DeploymentStore, bus: Bus, log: Log) {
    this.#store = store;
    this.#bus = bus;
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#stop.push(
      this.#bus.subscribe('deployment', ({ id, revision }) => {
        const known = this.#byId.get(id);
        if (known === undefined || known.revision < revision) this.#refresh(id);
      }),
      this.#bus.subscribe('resync', () => this.#heal()),
    );
    for (const row of await this.#store.all()) this.put(row);
    const timer = setInterval(() => this.#heal(), TICK_MS);
    timer.unref();
    this.#stop.push(() => clearInterval(timer));
  }

  close(): void {
    for (const stop of this.#stop) stop();
    this.#stop = [];
  }

  get(slug: string): DeploymentRow | undefined {
    return this.#bySlug.get(slug);
  }

  byId(id: number): DeploymentRow | undefined {
    return this.#byId.get(id);
  }

  /** In no order. */
  all(): DeploymentRow[] {
    return [...this.#byId.values()];
  }

  /** Told the id of every deployment that was made, changed or deleted. */
  onChange(listener: (id: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes a row as it was just written or read; an older revision than the known one is dropped. */
  put(row: DeploymentRow): void {
    const known = this.#byId.get(row.id);
    if (known && known.revision >= row.revision) return;
    this.#byId.set(row.id, row);
    this.#bySlug.set(row.slug, row);
    this.#tell(row.id);
  }

  remove(id: number): void {
    const known = this.#byId.get(id);
    if (!known) return;
    this.#byId.delete(id);
    if (this.#bySlug.get(known.slug)?.id === id) this.#bySlug.delete(known.slug);
    this.#tell(id);
  }

  #tell(id: number): void {
    for (const listener of this.#listeners) listener(id);
  }

  /** Reads one deployment again. Errors go to the log: the next tick tries again. */
  #refresh(id: number): void {
    this.#store.byId(id).then(
      (row) => (row ? this.put(row) : this.remove(id)),
      (error: unknown) => this.#log.warn({ err: error }, 'a deployment could not be read'),
    );
  }

  #heal(): void {
    if (this.#healing) return;
    this.#healing = true;
    this.#store
      .revisions()
      .then((revisions) => {
        for (const [id, revision] of revisions) if ((this.#byId.get(id)?.revision ?? 0) < revision) this.#refresh(id);
        for (const id of this.#byId.keys()) if (!revisions.has(id)) this.#refresh(id);
      })
      .catch((error: unknown) => this.#log.warn({ err: error }, 'deployments could not be compared'))
      .finally(() => {
        this.#healing = false;
      });
  }
}
