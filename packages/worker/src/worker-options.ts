import { randomUUID } from 'node:crypto';
import { checkCapacity, checkLabels, checkName, type Issue, MAX_NAME, MusterError } from '@muster/core';
import type { Checks } from './checks.ts';
import { type Log, logToStderr } from './log.ts';
import { hostnameAsName } from './machine.ts';
import type { MetricsProvider } from './metrics-provider.ts';
import type { Workflow } from './workflow.ts';

export interface WorkerOptions {
  /** Where the server is; `MUSTER_SERVER`, else `http://127.0.0.1:4000`, where absent. */
  readonly server?: string;
  /** Bearer token; `MUSTER_TOKEN` where absent. */
  readonly token?: string;
  /** Unique and stable over restarts; `MUSTER_WORKER_NAME`, else `<role>-<hostname>`, where absent. */
  readonly name?: string;
  /** What it announces itself as; `SERVICE_ROLE`, else `api`, where absent. */
  readonly role?: string;
  /** Version of the program; `0.0.0` where absent. */
  readonly version?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Most executions at once; no limit where absent. */
  readonly capacity?: number;
  readonly workflows: readonly Workflow[];
  /** Health checks, run at each heartbeat. A worker with a failing one is given no work. */
  readonly checks?: Checks;
  readonly metrics?: MetricsProvider;
  /** Whether `run()` drains at SIGTERM and SIGINT, and stops at the second one; true where absent. */
  readonly signals?: boolean;
  /** Seconds that an aborted handler has to come to its end; 5 where absent. */
  readonly graceSeconds?: number;
  /** Seconds without an acknowledged heartbeat after which all handlers are aborted; 45 where absent. */
  readonly silenceSeconds?: number;
  readonly log?: Log;
}

/** The options with every default filled in. */
export interface ResolvedOptions {
  readonly server: string;
  readonly token: string | undefined;
  readonly name: string;
  readonly role: string;
  readonly hostname: string;
  readonly version: string;
  readonly instanceId: string;
  readonly labels: readonly { readonly key: string; readonly value: string }[];
  readonly capacity: number | null;
  readonly workflows: readonly Workflow[];
  readonly checks: Checks;
  readonly metrics: MetricsProvider | undefined;
  readonly signals: boolean;
  readonly graceMs: number;
  readonly silenceMs: number;
  readonly log: Log;
}

/** Fills in the defaults; throws BAD_INPUT with every problem at once. A capacity of 0 reads as none. */
export function resolveOptions(options: WorkerOptions, env: NodeJS.ProcessEnv): ResolvedOptions {
  const hostname = hostnameAsName();
  const role = options.role ?? given(env['SERVICE_ROLE']) ?? 'api';
  const name = options.name ?? given(env['MUSTER_WORKER_NAME']) ?? `${role}-${hostname}`;
  const labels = Object.entries(options.labels ?? {}).map(([key, value]) => ({ key, value }));
  const capacity = options.capacity === 0 ? null : (options.capacity ?? null);
  const issues: Issue[] = [
    ...checkName(name, 'name', 'a worker name', MAX_NAME),
    ...checkName(role, 'role', 'a role', MAX_NAME),
    ...checkLabels(labels, 'labels', 'refuse').issues,
    ...checkCapacity(capacity, 'capacity'),
    ...repeatedRefs(options.workflows),
  ];
  if (issues.length > 0) {
    throw new MusterError('BAD_INPUT', issues.map((issue) => `${issue.path}: ${issue.message}`).join('; '), { issues });
  }
  return {
    server: options.server ?? given(env['MUSTER_SERVER']) ?? 'http://127.0.0.1:4000',
    token: options.token ?? given(env['MUSTER_TOKEN']),
    name,
    role,
    hostname,
    version: options.version ?? '0.0.0',
    instanceId: randomUUID(),
    labels,
    capacity,
    workflows: options.workflows,
    checks: options.checks ?? {},
    metrics: options.metrics,
    signals: options.signals ?? true,
    graceMs: (options.graceSeconds ?? 5) * 1_000,
    silenceMs: (options.silenceSeconds ?? 45) * 1_000,
    log: options.log ?? logToStderr,
  };
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}

function repeatedRefs(workflows: readonly Workflow[]): Issue[] {
  const seen = new Set<string>();
  const issues: Issue[] = [];
  for (const [index, { ref }] of workflows.entries()) {
    if (seen.has(ref))
      issues.push({ path: `workflows.${index}`, code: 'WORKFLOW_DUPLICATE', message: `${ref} is given twice` });
    seen.add(ref);
  }
  return issues;
}
