import {
  ClientError,
  type LinkStatus,
  type LiveLink,
  reconnectDelay,
  RegisterWorkflowDocument,
  type RegisterWorkflowInput,
  WorkerInboxDocument,
  type WorkerInboxSubscription,
  WorkerRegisterDocument,
} from '@muster/client';
import type { Executions } from './executions.ts';
import type { Heartbeat } from './heartbeat.ts';
import { measureResources } from './metrics/machine.ts';
import { registration } from './registration.ts';
import type { Reporter } from './reporter.ts';
import type { ResolvedOptions } from './worker-options.ts';

type Inbox = WorkerInboxSubscription['workerInbox'];

export interface SessionOptions {
  readonly link: LiveLink;
  readonly options: ResolvedOptions;
  readonly reporter: Reporter;
  readonly heartbeat: Heartbeat;
  readonly executions: Executions;
  readonly onReady: () => void;
  readonly onDrain: () => void;
  readonly onReplaced: () => void;
  /** The server will never take this worker as it is. */
  readonly onFailed: (error: ClientError) => void;
}

/** Sent instead of an empty list of workflows, which would mean "any": a worker without handlers is given nothing. */
const noWorkflow = 'muster/none';

/**
 * Keeps the worker known to the server: registers on every new connection (same instance id), listens to its inbox
 * there, and starts over when the server says that it does not know the worker.
 */
export class Session {
  readonly #parts: SessionOptions;
  readonly #startedAt = new Date().toISOString();
  readonly #registrations: readonly RegisterWorkflowInput[];
  #workflowsRegistered = false;
  #joining = false;
  #failures = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #leaveInbox: (() => void) | undefined;
  #closed = false;

  constructor(parts: SessionOptions) {
    this.#parts = parts;
    this.#registrations = parts.options.workflows.map(registration);
  }

  onStatus(status: LinkStatus): void {
    if (this.#closed) return;
    const { options, reporter } = this.#parts;
    switch (status.state) {
      case 'connecting':
        return;
      case 'connected':
        void this.#join();
        return;
      case 'disconnected': {
        reporter.pause();
        const retryInMs = Math.round(status.retryInMs);
        options.log('warn', `Not connected to ${options.server}: ${status.reason}.`, { retryInMs });
        return;
      }
      case 'closed':
        if (status.error !== undefined) this.#parts.onFailed(status.error);
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    this.#parts.reporter.pause();
    this.#leaveInbox?.();
  }

  /** The server did not take something this worker said as a whole. */
  refused(error: ClientError): void {
    if (this.#closed) return;
    const { link, options, reporter, onReplaced, onFailed } = this.#parts;
    switch (error.code) {
      case 'CONFLICT':
        onReplaced();
        return;
      case 'UNAUTHENTICATED':
      case 'FORBIDDEN':
      case 'BAD_INPUT':
      case 'POLICY_INVALID':
        onFailed(error);
        return;
      default:
        // NOT_FOUND: removed, or another database; the rest may pass. A new connection registers by itself.
        options.log('warn', `The server refused the worker: ${error.message}`, { code: error.code });
        reporter.pause();
        if (link.connected) this.#retry(error.code === 'NOT_FOUND' && this.#failures === 0 ? 0 : undefined);
    }
  }

  #retry(delayMs = reconnectDelay(this.#failures, Math.random)): void {
    this.#failures += 1;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => {
      if (this.#parts.link.connected) void this.#join();
    }, delayMs);
  }

  async #join(): Promise<void> {
    if (this.#joining) return;
    this.#joining = true;
    const { link, options, reporter, heartbeat, onReady } = this.#parts;
    try {
      clearTimeout(this.#retryTimer);
      await this.#registerWorkflows();
      const input = await this.#registration();
      const { workerRegister } = await link.request(WorkerRegisterDocument, { input });
      if (this.#closed) return;
      this.#failures = 0;
      reporter.resume();
      heartbeat.start(workerRegister.heartbeatSeconds);
      this.#listen();
      void heartbeat.beat();
      options.log('info', `Worker ${options.name} is on duty.`, { role: options.role, server: options.server });
      onReady();
    } catch (error) {
      this.refused(error as ClientError);
    } finally {
      this.#joining = false;
    }
  }

  #listen(): void {
    this.#leaveInbox?.();
    const { link, options } = this.#parts;
    let first = true;
    let current = true;
    const stop = link.subscribe(
      WorkerInboxDocument,
      { worker: options.name, instanceId: options.instanceId },
      {
        next: ({ workerInbox }) => {
          if (!current) return;
          this.#read(workerInbox, first);
          first = false;
        },
        end: (error) => {
          if (!current) return;
          current = false;
          if (error !== undefined && link.connected) this.refused(error);
          else if (link.connected && !this.#closed) this.#retry();
        },
      },
      { resume: false },
    );
    this.#leaveInbox = () => {
      current = false;
      stop();
    };
  }

  #read(inbox: Inbox, first: boolean): void {
    const { executions, onDrain, onReplaced } = this.#parts;
    if (inbox.replaced) {
      onReplaced();
      return;
    }
    if (inbox.drain) onDrain();
    executions.assign(inbox.assignments, first);
    for (const { id, generation } of inbox.cancels) executions.cancel(id, generation);
  }

  async #registration() {
    const { options } = this.#parts;
    const refs = options.workflows.map((one) => one.ref);
    return {
      name: options.name,
      instanceId: options.instanceId,
      role: options.role,
      hostname: options.hostname,
      version: options.version,
      startedAt: this.#startedAt,
      labels: [...options.labels],
      capacity: options.capacity,
      runners: [...options.runners],
      workflows: refs.length === 0 ? [noWorkflow] : refs,
      resources: await measureResources(),
      packages: [],
    };
  }

  // Once per process. A credential that may not register workflows can still run them: those that others have registered.
  async #registerWorkflows(): Promise<void> {
    if (this.#workflowsRegistered) return;
    const { link, options } = this.#parts;
    for (const input of this.#registrations) {
      const ref = `${input.namespace}/${input.name}`;
      try {
        const { registerWorkflow } = await link.request(RegisterWorkflowDocument, { input });
        if (registerWorkflow.created) {
          options.log('info', `Registered ${ref} version ${registerWorkflow.version.number}.`);
        }
      } catch (error) {
        throwUnlessRegistered(error as ClientError, ref);
        options.log(
          'warn',
          `This worker may not register ${ref}; it runs the version that is registered, which says the same.`,
        );
      }
    }
    this.#workflowsRegistered = true;
  }
}

/** What others have registered in the same words is as good. */
function throwUnlessRegistered(error: ClientError, ref: string): void {
  if (error.code !== 'FORBIDDEN') throw error;
  if (error.extensions['registered'] === true) return;
  const message = `This worker may not register ${ref}, and no version that says the same is registered: somebody who may has to register it first, or its join token has to allow it (registers: ${ref.replace('/', ':')}).`;
  throw new ClientError('FORBIDDEN', message, error.extensions, error);
}
