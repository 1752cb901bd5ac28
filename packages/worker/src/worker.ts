import { ClientError, LiveLink, type WorkerHeartbeatInput, WorkerLeaveDocument } from '@muster/client';
import { WebSocket } from 'ws';
import { runChecks } from './checks.ts';
import { CredentialKeeper } from './credential/credential-keeper.ts';
import { surviveLeftBehind } from './durable/left-behind.ts';
import { Executions } from './executions.ts';
import { Heartbeat } from './heartbeat.ts';
import { WorkerMetrics } from './metrics/worker-metrics.ts';
import { Reporter } from './reporter.ts';
import { RunnersByName } from './runners/by-name.ts';
import { workerRunsElsewhere } from './runners/child-workflows.ts';
import { InProcessRunner } from './runners/in-process.ts';
import { SubprocessRunner } from './runners/subprocess.ts';
import { Session } from './session.ts';
import { type ResolvedOptions, resolveOptions, type WorkerOptions } from './worker-options.ts';

export type WorkerState = 'INITIALIZED' | 'RUNNING' | 'DRAINING' | 'STOPPED' | 'FAILED';

/** How a worker came to its end: all done after `drain()`, told to `stop()`, or a newer process took its name. */
export type StopReason = 'drained' | 'stopped' | 'replaced';

/**
 * A process that takes executions of the given workflows. It registers, says every few seconds that it lives, claims
 * what it is assigned, runs it and reports; it comes back by itself when the server was away, with what it holds.
 */
export class Worker {
  readonly name: string;
  readonly role: string;
  readonly instanceId: string;
  /** Resolves when the server has taken the worker for the first time; rejects where it never does. */
  readonly ready: Promise<void>;
  readonly #options: ResolvedOptions;
  readonly #link: LiveLink;
  readonly #session: Session;
  readonly #heartbeat: Heartbeat;
  readonly #executions: Executions;
  readonly #metrics: WorkerMetrics;
  /** Of a worker with a credential of its own. */
  readonly #credential: CredentialKeeper | undefined;
  readonly #subprocess: SubprocessRunner;
  readonly #ready = settleable<void>();
  readonly #ended = settleable<StopReason>();
  #state: WorkerState = 'INITIALIZED';
  #stopping = false;

  constructor(options: WorkerOptions) {
    const resolved = resolveOptions(options, process.env);
    const { log, name, instanceId } = resolved;
    this.#options = resolved;
    this.name = name;
    this.role = resolved.role;
    this.instanceId = instanceId;
    this.ready = this.#ready.promise;
    // Whoever waits for neither is told by run(); an unhandled rejection would end the process before that.
    this.#ready.promise.catch(() => undefined);
    this.#ended.promise.catch(() => undefined);
    this.#metrics = new WorkerMetrics(resolved, () => void this.#heartbeat.beat());

    const { credentialFile: file, joinToken } = resolved;
    this.#credential =
      file === undefined
        ? undefined
        : new CredentialKeeper({
            server: resolved.server,
            worker: name,
            role: resolved.role,
            joinToken,
            file,
            log,
            onRenewed: () => this.#link.reconnect('a new credential'),
          });
    const onRefused = (error: ClientError): void => this.#session.refused(error);
    this.#link = new LiveLink({
      url: resolved.server,
      token: () => this.#credential?.token ?? resolved.token,
      openSocket: (url, protocol, headers) => new WebSocket(url, protocol, { headers, perMessageDeflate: false }),
      onStatus: (status) => this.#session.onStatus(status),
      // What it holds is given to others when it is silent for long: then it does not sit out a long wait.
      longestRetryMs: () => (this.#executions.idle ? 30_000 : 5_000),
    });
    const reporter = new Reporter({ link: this.#link, worker: name, instanceId, onRefused });
    const workflows = new Map(resolved.workflows.map((one) => [one.ref, one]));
    this.#subprocess = new SubprocessRunner({ ...resolved, ...resolved.subprocess, workflows });
    this.#executions = new Executions({
      reporter,
      workflows,
      runner: new RunnersByName({
        inprocess: new InProcessRunner({ ...resolved, workflows }),
        subprocess: this.#subprocess,
      }),
      capacity: resolved.capacity,
      access: { server: resolved.server, worker: name },
      graceMs: resolved.graceMs,
      log,
      statistics: this.#metrics.runs,
      onIdle: () => this.#idle(),
    });
    this.#heartbeat = new Heartbeat({
      link: this.#link,
      content: (timeoutMs) => this.#heartbeatContent(timeoutMs),
      onLost: (claims) => {
        for (const { id, generation } of claims) this.#executions.lose(id, generation);
      },
      onSilence: () => {
        log('error', 'The server has not acknowledged a heartbeat for too long; all handlers are aborted.');
        this.#executions.abortAll('silence');
      },
      onRefused,
      log,
      silenceMs: resolved.silenceMs,
    });
    this.#session = new Session({
      link: this.#link,
      options: resolved,
      reporter,
      heartbeat: this.#heartbeat,
      executions: this.#executions,
      onReady: () => this.#ready.resolve(),
      onDrain: () => void this.drain(),
      onReplaced: () => this.#replaced(),
      onFailed: (error) => this.#fail(error),
    });
  }

  get state(): WorkerState {
    return this.#state;
  }

  /** Starts it. Resolves when it has stopped, and says why; rejects with ClientError where the server refuses it. */
  async run(): Promise<StopReason> {
    // Loaded for its handlers only, in a process that a worker has started for one of them.
    if (workerRunsElsewhere()) return await new Promise<never>(() => undefined);
    if (this.#state !== 'INITIALIZED') throw new Error(`A worker runs once; this one is ${this.#state}.`);
    this.#state = 'RUNNING';
    let signalled = false;
    const onSignal = (): void => {
      void (signalled ? this.stop() : this.drain(this.#options.drainSeconds));
      signalled = true;
    };
    if (this.#options.signals) for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
    const endWatch = surviveLeftBehind((error) => {
      this.#options.log('warn', `A handler has left behind a call that failed: ${String(error)}`);
    });
    this.#metrics.start();
    if (this.#options.runners.includes('subprocess')) this.#subprocess.open();
    void this.#enter();
    try {
      return await this.#ended.promise;
    } finally {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, onSignal);
      endWatch();
    }
  }

  /** Connects, with a credential of its own where it has one or is to get one. */
  async #enter(): Promise<void> {
    try {
      await this.#credential?.open();
    } catch (error) {
      this.#fail(error instanceof ClientError ? error : new ClientError('BAD_INPUT', (error as Error).message));
      return;
    }
    if (this.#state === 'RUNNING' || this.#state === 'DRAINING') this.#link.connect();
  }

  /**
   * Takes nothing new, finishes what runs, leaves. What still runs after `withinSeconds` is aborted and given back; null: it may
   * take as long as it likes. Resolves when it has stopped.
   */
  async drain(withinSeconds: number | null = null): Promise<void> {
    if (this.#state === 'INITIALIZED') this.#finish('drained');
    if (this.#state === 'RUNNING') {
      this.#state = 'DRAINING';
      this.#options.log('info', 'The worker drains.', { running: this.#executions.running });
      this.#executions.refuse('draining');
      void this.#heartbeat.beat();
      this.#idle();
    }
    const limit = withinSeconds === null ? undefined : setTimeout(() => this.#overdue(), withinSeconds * 1_000);
    await this.#ended.promise.catch(() => undefined);
    clearTimeout(limit);
  }

  #overdue(): void {
    const { running } = this.#executions;
    this.#options.log('warn', 'The time to drain is over; what still runs is aborted and given back.', { running });
    void this.stop();
  }

  /** Aborts what runs, gives it back and leaves. Resolves when it has stopped, at the latest after the grace time. */
  async stop(): Promise<void> {
    if (this.#state === 'INITIALIZED') this.#finish('stopped');
    if ((this.#state === 'RUNNING' || this.#state === 'DRAINING') && !this.#stopping) {
      this.#state = 'DRAINING';
      this.#stopping = true;
      this.#executions.refuse('worker stopping');
      this.#executions.abortAll('stopping');
      // Aborted handlers settle within the grace time; the reports of them get a second more, if there is a connection.
      const limit = setTimeout(
        () => void this.#leave('stopped'),
        this.#link.connected ? this.#options.graceMs + 1_000 : 0,
      );
      this.#idle();
      await this.#ended.promise.catch(() => undefined);
      clearTimeout(limit);
    }
    await this.#ended.promise.catch(() => undefined);
  }

  #idle(): void {
    if (this.#state === 'DRAINING' && this.#executions.idle) void this.#leave(this.#stopping ? 'stopped' : 'drained');
  }

  #leaving = false;

  async #leave(reason: StopReason): Promise<void> {
    if (this.#leaving) return;
    this.#leaving = true;
    this.#heartbeat.stop();
    if (this.#link.connected) {
      const input = { worker: this.name, instanceId: this.instanceId };
      await this.#link.request(WorkerLeaveDocument, { input }, { timeoutMs: 2_000 }).catch((error: Error) => {
        this.#options.log('warn', `The goodbye was not answered: ${error.message}`);
      });
    }
    this.#finish(reason);
  }

  #replaced(): void {
    this.#options.log('error', 'A newer worker of this name has taken over; this one stops.', { worker: this.name });
    this.#executions.abortAll('replaced');
    this.#finish('replaced');
  }

  #finish(reason: StopReason): void {
    if (this.#state === 'STOPPED' || this.#state === 'FAILED') return;
    this.#state = 'STOPPED';
    this.#close();
    this.#ready.reject(new Error(`The worker has ${reason === 'replaced' ? 'been replaced' : reason}.`));
    this.#ended.resolve(reason);
  }

  #fail(error: ClientError): void {
    if (this.#state === 'STOPPED' || this.#state === 'FAILED') return;
    this.#state = 'FAILED';
    this.#executions.abortAll('stopping');
    this.#close();
    this.#ready.reject(error);
    this.#ended.reject(error);
  }

  #close(): void {
    this.#heartbeat.stop();
    this.#metrics.stop();
    this.#subprocess.close();
    this.#session.close();
    this.#credential?.close();
    this.#link.close();
  }

  async #heartbeatContent(timeoutMs: number): Promise<WorkerHeartbeatInput> {
    const results = [...(await runChecks(this.#options.checks, timeoutMs)), this.#metrics.loopCheck()];
    return {
      worker: this.name,
      instanceId: this.instanceId,
      healthy: results.every((result) => result.healthy),
      checks: results,
      metrics: this.#metrics.snapshot(this.#executions.running),
      draining: this.#state === 'DRAINING',
      claims: this.#executions.claims(),
    };
  }
}

interface Settleable<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

function settleable<T>(): Settleable<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
