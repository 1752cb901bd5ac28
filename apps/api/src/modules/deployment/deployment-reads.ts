import { mayReadNamed, readableNames } from '../viewer/readable.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { DeploymentDirectory } from './deployment-directory.ts';
import type { DeploymentRow } from './deployment-store.ts';

/** Deployments as a viewer sees them: those with `deployment:{slug}:read`; the others are not there. */
export class DeploymentReads {
  readonly #directory: Pick<DeploymentDirectory, 'get' | 'byId' | 'all'>;

  constructor(directory: Pick<DeploymentDirectory, 'get' | 'byId' | 'all'>) {
    this.#directory = directory;
  }

  get(slug: string, viewer: Viewer): DeploymentRow | null {
    return mayReadNamed(viewer, 'deployment', slug) ? (this.#directory.get(slug) ?? null) : null;
  }

  byId(id: number, viewer: Viewer): DeploymentRow | null {
    const deployment = this.#directory.byId(id);
    return deployment && mayReadNamed(viewer, 'deployment', deployment.slug) ? deployment : null;
  }

  /** In no order. */
  all(viewer: Viewer): DeploymentRow[] {
    const names = readableNames(viewer, 'deployment');
    if (names === 'all') return this.#directory.all();
    return [...names].flatMap((slug) => this.#directory.get(slug) ?? []);
  }
}
