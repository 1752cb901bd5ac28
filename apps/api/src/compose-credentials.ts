import type { Config } from './config.ts';
import type { ControlPlane } from './control-plane.ts';
import type { Log } from './log.ts';
import type { Access } from './modules/access/access.ts';
import { ExecutionTokenKind } from './modules/execution-token/execution-token-kind.ts';
import { JoinTokenService } from './modules/join-token/join-token-service.ts';
import { JoinTokenStore } from './modules/join-token/join-token-store.ts';
import { WorkerCredentialKind } from './modules/join-token/worker-credential-kind.ts';
import { WorkerCredentialService } from './modules/join-token/worker-credential-service.ts';

export interface WorkerCredentialsOptions {
  readonly config: Config;
  readonly log: Log;
  readonly access: Access;
}

/** How workers and the executions that they run are known: makes both kinds of credentials known to `access`. */
export function createWorkerCredentials(
  plane: ControlPlane,
  { config, log, access }: WorkerCredentialsOptions,
): { joinTokens: JoinTokenService; workerCredentials: WorkerCredentialService; close(): void } {
  const { database, executor, bus, workforce, executionTokens, workerCredentialStore: store } = plane;
  const now = (): number => database.now();
  const executions = new ExecutionTokenKind({ executor, bus, access, tokens: executionTokens });
  access.register(new WorkerCredentialKind({ store, now, log }));
  access.register(executions);
  return {
    joinTokens: new JoinTokenService(new JoinTokenStore(database.prisma, () => plane.ids.next(), now)),
    workerCredentials: new WorkerCredentialService({
      store,
      bus,
      lifetimeMs: config.workerCredentialSeconds * 1_000,
      dismiss: (worker, why) => workforce.workers.dismiss(worker, why),
    }),
    close: () => executions.close(),
  };
}
