import type { Viewer } from './viewer.ts';
import { may } from './viewer.ts';

/** What somebody may read of a kind of thing that has one name: everything, or these names. */
export type ReadableNames = 'all' | ReadonlySet<string>;

/** Which workflows somebody may read: everything, or those that fit one of these; null stands for any. */
export type ReadableWorkflows = 'all' | readonly WorkflowPattern[];

export interface WorkflowPattern {
  readonly namespace: string | null;
  readonly name: string | null;
}

/** From the permissions alone, so that lists can be narrowed by an index before they are read. */
export function readableNames(viewer: Viewer, kind: 'worker' | 'deployment' | 'schedule'): ReadableNames {
  if (may(viewer, `${kind}:*:read`)) return 'all';
  const names = new Set<string>();
  for (const permission of viewer.permissions) {
    const [first, name, action, ...rest] = permission.split(':');
    if (first !== kind && first !== '*') continue;
    if (name !== undefined && rest.length === 0 && (action === 'read' || action === '*')) names.add(name);
  }
  return names;
}

/** As `readableNames`, for what has a namespace too. */
export function readableWorkflows(viewer: Viewer): ReadableWorkflows {
  if (may(viewer, 'workflow:*:*:read')) return 'all';
  const patterns: WorkflowPattern[] = [];
  for (const permission of viewer.permissions) {
    const [first, namespace, name, action, ...rest] = permission.split(':');
    if ((first !== 'workflow' && first !== '*') || namespace === undefined || rest.length > 0) continue;
    const whole = name === '*' && action === undefined;
    if (whole || (name !== undefined && (action === 'read' || action === '*'))) {
      patterns.push({ namespace: openOr(namespace), name: openOr(name) });
    }
  }
  return patterns;
}

function openOr(segment: string | undefined): string | null {
  return segment === undefined || segment === '*' ? null : segment;
}

export function mayReadNamed(viewer: Viewer, kind: 'worker' | 'deployment' | 'schedule', name: string): boolean {
  // A process that is known by its heartbeats alone is called as it likes: what is no segment is covered by a * only.
  return may(viewer, `${kind}:${name.includes(':') ? '*' : name}:read`);
}

/** `ref`: namespace/name. */
export function mayReadWorkflow(viewer: Viewer, ref: string): boolean {
  return may(viewer, `workflow:${ref.replace('/', ':')}:read`);
}

/** Beside it, an execution and its decisions take their workflow's `read`. */
export function mayReadExecutions(viewer: Viewer): boolean {
  return may(viewer, 'execution:*:read');
}

/** What an execution's own token must not learn: the binding, the hint, and how the dispatcher decided (ruling 20). */
export function isBlind(viewer: Viewer): boolean {
  return viewer.kind === 'execution';
}
