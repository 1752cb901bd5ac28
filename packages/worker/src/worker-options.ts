import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import {
  checkCapacity,
  checkInteger,
  checkLabels,
  checkName,
  type Issue,
  MAX_NAME,
  MusterError,
  quote,
} from '@muster/core';
import type { Checks } from './checks.ts';
import { type Log, logToStderr } from './log.ts';
import { hostnameAsName } from './metrics/machine.ts';
import type { MetricsProvider } from './metrics/metrics-provider.ts';
import { type RunnerName, runnerNames } from './runners/by-name.ts';
import type { SubprocessOptions } from './runners/subprocess.ts';
import type { Workflow } from './workflow.ts';

export interface WorkerOptions {
  /** Where the server is; `MUSTER_SERVER`, else `http://127.0.0.1:4000`, where absent. */
  readonly server?: string;
  /** Bearer token; `MUSTER_TOKEN` where absent. A worker that has joined has a credential of its own in its place. */
  readonly token?: string;
  /** Exchanged once for a credential of this worker, which is kept in `credentialFile` and renewed; `MUSTER_JOIN_TOKEN` where absent. */
  readonly joinToken?: string;
  /**
   * Where that credential is kept from one start to the next; `MUSTER_CREDENTIAL_FILE`, else `workers/<name>.json` in `MUSTER_DATA_DIR`,
   * else in `.muster`, where absent. Used where there is a join token, or the file and no other token.
   */
  readonly credentialFile?: string;
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
  /** Metrics of your own for policies to rank by: a function, or where it is, `module:export`. */
  readonly metricsProvider?: MetricsProvider | string;
  /** Seconds between two calls of the provider; 10 where absent. */
  readonly metricsInterval?: number;
  /** Whether heartbeats carry the `flux.*` metrics; true where absent. */
  readonly builtinMetrics?: boolean;
  /**
   * An event loop that stands still for so many seconds in one stretch makes the worker unhealthy, until it has run for five seconds without
   * that; 0: never. 1 where absent.
   */
  readonly loopLagThreshold?: number;
  /** Sleeps of more milliseconds than this give the slot back; 30,000 where absent. */
  readonly longSleepMs?: number;
  /** Whether transient calls of its own workflows run as a part of their caller; true where absent. false: they are dispatched. */
  readonly transientCalls?: boolean;
  /** Which runners it offers; `inprocess`, and `subprocess` if any workflow says its `module`, where absent. */
  readonly runners?: readonly RunnerName[];
  readonly subprocess?: SubprocessOptions;
  /**
   * What imports modules that are known by name (the provider's, and in their processes those of workflows), as `module:export`:
   * a function of the path. `import()` where absent.
   */
  readonly moduleLoader?: string;
  /** Whether `run()` drains at SIGTERM and SIGINT, and stops at the second one; true where absent. */
  readonly signals?: boolean;
  /** Seconds that running handlers have to come to their end after such a signal; 60 where absent. */
  readonly drainSeconds?: number;
  /** Seconds that an aborted handler has to come to its end; 5 where absent. */
  readonly graceSeconds?: number;
  /** Seconds without an acknowledged heartbeat after which all handlers are aborted; 45 where absent. */
  readonly silenceSeconds?: number;
  readonly log?: Log;
}

/** The options with every default filled in. */
export interface ResolvedOptions {
  readonly server: string;
  /** undefined: there is none, or the worker has a credential of its own. */
  readonly token: string | undefined;
  readonly joinToken: string | undefined;
  /** undefined: `token` it is. */
  readonly credentialFile: string | undefined;
  readonly name: string;
  readonly role: string;
  readonly hostname: string;
  readonly version: string;
  readonly instanceId: string;
  readonly labels: readonly { readonly key: string; readonly value: string }[];
  readonly capacity: number | null;
  readonly workflows: readonly Workflow[];
  readonly checks: Checks;
  readonly metricsProvider: MetricsProvider | string | undefined;
  readonly metricsIntervalMs: number;
  readonly builtinMetrics: boolean;
  readonly loopLagThreshold: number;
  readonly longSleepMs: number;
  readonly transientCalls: boolean;
  readonly runners: readonly RunnerName[];
  readonly subprocess: Required<SubprocessOptions>;
  readonly moduleLoader: string | undefined;
  readonly signals: boolean;
  readonly drainSeconds: number;
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
    ...checkTokens(options),
    ...checkRunners(options),
    ...checkLongSleep(options.longSleepMs),
    ...checkSeconds(options.metricsInterval, 'metricsInterval', 0.01),
    ...checkSeconds(options.loopLagThreshold, 'loopLagThreshold', 0),
    ...checkSeconds(options.drainSeconds, 'drainSeconds', 0),
  ];
  if (issues.length > 0) {
    throw new MusterError('BAD_INPUT', issues.map((issue) => `${issue.path}: ${issue.message}`).join('; '), { issues });
  }
  return {
    server: options.server ?? given(env['MUSTER_SERVER']) ?? 'http://127.0.0.1:4000',
    ...entering(options, name, env),
    name,
    role,
    hostname,
    version: options.version ?? '0.0.0',
    instanceId: randomUUID(),
    labels,
    capacity,
    workflows: options.workflows,
    checks: options.checks ?? {},
    ...measuring(options),
    ...durable(options),
    ...running(options),
    signals: options.signals ?? true,
    graceMs: (options.graceSeconds ?? 5) * 1_000,
    silenceMs: (options.silenceSeconds ?? 45) * 1_000,
    log: options.log ?? logToStderr,
  };
}

/** A token that was given in the program counts most, then a join token, then one of the environment, then a credential that is kept. */
function entering({ token, joinToken, credentialFile }: WorkerOptions, name: string, env: NodeJS.ProcessEnv) {
  const join = joinToken ?? (token === undefined ? given(env['MUSTER_JOIN_TOKEN']) : undefined);
  const file =
    credentialFile ??
    given(env['MUSTER_CREDENTIAL_FILE']) ??
    joinPath(given(env['MUSTER_DATA_DIR']) ?? '.muster', 'workers', `${name}.json`);
  const known = token ?? given(env['MUSTER_TOKEN']);
  const own = join !== undefined || (known === undefined && existsSync(file));
  return {
    token: own ? undefined : known,
    joinToken: join,
    credentialFile: own ? file : undefined,
  };
}

function measuring(options: WorkerOptions) {
  return {
    metricsProvider: options.metricsProvider,
    metricsIntervalMs: (options.metricsInterval ?? 10) * 1_000,
    builtinMetrics: options.builtinMetrics ?? true,
    loopLagThreshold: options.loopLagThreshold ?? 1,
  };
}

function running(options: WorkerOptions) {
  const hasModule = options.workflows.some((one) => one.options.module !== undefined);
  const { runners = hasModule ? runnerNames : (['inprocess'] as const), subprocess } = options;
  return {
    runners: [...new Set(runners)],
    subprocess: { memoryLimitMb: 512, warm: 1, ...subprocess },
    moduleLoader: options.moduleLoader,
    drainSeconds: options.drainSeconds ?? 60,
  };
}

function durable(options: WorkerOptions) {
  return { longSleepMs: options.longSleepMs ?? 30_000, transientCalls: options.transientCalls ?? true };
}

function checkTokens({ token, joinToken }: WorkerOptions): Issue[] {
  if (token === undefined || joinToken === undefined) return [];
  const message = 'a worker has a token, or joins with a join token: give one of them';
  return [{ path: 'joinToken', code: 'TOKEN_AND_JOIN_TOKEN', message }];
}

function checkLongSleep(value: number | undefined): Issue[] {
  if (value === undefined || (value >= 0 && value <= 600_000)) return [];
  const message = `longSleepMs is a number of milliseconds from 0 to 600000 (ten minutes), not ${value}`;
  return [{ path: 'longSleepMs', code: 'NUMBER_RANGE', message }];
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}

function checkSeconds(value: number | undefined, path: string, least: number): Issue[] {
  if (value === undefined || (value >= least && value <= 86_400)) return [];
  return [
    { path, code: 'NUMBER_RANGE', message: `${path} is a number of seconds from ${least} to 86400, not ${value}` },
  ];
}

function checkRunners({ runners = runnerNames, subprocess, workflows }: WorkerOptions): Issue[] {
  const { memoryLimitMb, warm } = subprocess ?? {};
  const issues: Issue[] = [];
  if (memoryLimitMb !== undefined)
    issues.push(...checkInteger(memoryLimitMb, 'subprocess.memoryLimitMb', 'the memory limit in MiB', 128, 1_048_576));
  if (warm !== undefined) issues.push(...checkInteger(warm, 'subprocess.warm', 'the number of warm processes', 0, 64));
  for (const [index, runner] of runners.entries()) {
    if (runnerNames.includes(runner)) continue;
    const message = `a runner is one of ${runnerNames.join(', ')}, not ${quote(runner)}`;
    issues.push({ path: `runners.${index}`, code: 'RUNNER_UNKNOWN', message });
  }
  for (const [index, { ref, options }] of workflows.entries()) {
    if (options.runner === 'subprocess' && options.module === undefined) {
      const message = `${ref} runs in processes of its own, which need its module: import.meta.url`;
      issues.push({ path: `workflows.${index}.module`, code: 'WORKFLOW_MODULE_MISSING', message });
    }
  }
  return issues;
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
