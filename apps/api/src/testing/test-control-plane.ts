import type { AffinitySpec } from '@muster/core';
import { createTestDatabase, testDatabaseKind } from '@muster/db/testing';
import { systemClock } from '../clock.ts';
import { type Config, type ConfigOverrides, readConfig } from '../config.ts';
import { type ControlPlane, startControlPlane } from '../control-plane.ts';
import { createLog } from '../log.ts';
import { administrator, type Viewer } from '../modules/viewer/viewer.ts';
import type { RegistrationInput } from '../modules/worker/worker-protocol.ts';

export const operator: Viewer = { ...administrator, name: 'operator' };

export interface TestControlPlane extends ControlPlane {
  config: Config;
  /** What was logged so far. */
  lines: string[];
  /** A workflow version without policy; answers its id. */
  registerWorkflow(
    name: string,
    more?: { maxAttempts?: number; timeoutSeconds?: number; affinity?: AffinitySpec },
  ): Promise<number>;
  /** Submits one execution of the version; answers its raw id. */
  submit(versionId: number, input?: string): Promise<string>;
  stop(): Promise<void>;
}

/** A whole control plane without HTTP, on a fresh database of the kind that this run is about. */
export async function startTestControlPlane(overrides: ConfigOverrides = {}): Promise<TestControlPlane> {
  const { target, remove } = await createTestDatabase(testDatabaseKind());
  const where =
    typeof target === 'string' ? { databaseUrl: target, databaseDirectUrl: target } : { dataDir: target.dataDir };
  const config = readConfig({}, { workerName: 'api-test', ...where, ...overrides });
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const plane = await startControlPlane({ config, log, clock: systemClock, random: Math.random });
  return {
    ...plane,
    config,
    lines,
    registerWorkflow: async (name, { maxAttempts = 3, timeoutSeconds, affinity } = {}) => {
      const { version } = await plane.workflowStore.register(
        {
          namespace: 'test',
          name,
          description: null,
          routing: null,
          routingText: null,
          affinity: affinity ?? null,
          affinityText: null,
          requests: null,
          runner: null,
          maxAttempts,
          timeoutSeconds: timeoutSeconds ?? null,
          fingerprint: new Uint8Array([1]),
        },
        { name: 'test', address: null, requestId: 'rq_test' },
      );
      return version.id;
    },
    submit: async (versionId, input = 'hello') => {
      const [outcome] = await plane.executions.submit(
        [{ versionId, workflowRef: 'test/echo', targetRoles: [], input, priority: 0 }],
        operator,
      );
      if (outcome === undefined || 'error' in outcome) throw outcome?.error ?? new Error('no outcome');
      return outcome.id;
    },
    stop: async () => {
      await plane.drain();
      await plane.close();
      await remove();
    },
  };
}

/** What a small worker says when it registers. */
export function registration(name: string, more: Partial<RegistrationInput> = {}): RegistrationInput {
  return {
    name,
    instanceId: `${name}-1`,
    role: 'worker',
    hostname: 'host',
    version: '1.0.0',
    startedAt: new Date(),
    labels: [],
    capacity: 4,
    runners: ['inprocess'],
    workflows: [],
    resources: null,
    packages: [],
    ...more,
  };
}

export const healthy = { healthy: true, draining: false, checks: [], metrics: undefined, claims: null };
