/** What a test says about a worker process. */
export interface WorkerSettings {
  readonly server: string;
  readonly token: string;
  readonly name: string;
  readonly role: string;
  readonly labels: Record<string, string>;
  readonly capacity: number;
  /** Before the names of its workflows (worker-main.ts), so that tests on one server do not meet. */
  readonly prefix: string;
  readonly routing?: string;
  readonly affinity?: string;
}

/** What a worker process tells its test. */
export type WorkerNews = { readonly kind: 'holding' | 'released'; readonly execution: string };
