import type { Workflow } from '@muster/worker';
import { type Clock, systemClock } from './clock.ts';
import { composeServices } from './compose.ts';
import type { Config } from './config.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { startEmbeddedWorker } from './embedded-worker.ts';
import { contextFactory } from './graphql/create-context.ts';
import { createPipeline } from './graphql/pipeline.ts';
import { buildSchema } from './graphql/schema.ts';
import { loadAdminToken, replaceAdminToken } from './modules/access/admin-token.ts';
import { bindPort } from './http/bound-port.ts';
import { type HttpServer, startHttpServer } from './http/http-server.ts';
import { createLog, type Log } from './log.ts';
import { createPrometheus } from './modules/metrics/prometheus.ts';
import { isRevokedInstallationToken } from './modules/access/installation-token.ts';
import { databaseFailure } from './start-error.ts';

export { type Config, ConfigError, readConfig } from './config.ts';
export { createLog } from './log.ts';
export { resetAdmin } from './modules/access/reset-admin-store.ts';
export { openAudit } from './modules/audit/offline-audit-store.ts';
export { StartError } from './start-error.ts';

export interface App {
  readonly url: string;
  /** Where it listens, whatever its public address is. */
  readonly port: number;
  readonly adminToken: string;
  /** A link that logs one browser in, once. The code is in the fragment: no server or proxy logs it. */
  loginLink(): string;
  /** Stops within 10 s: no new work, streams told to come back, writes in flight finished. */
  close(): Promise<void>;
}

export interface AppOptions {
  readonly log?: Log;
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
  /** What the worker inside this process runs. */
  readonly workflows?: readonly Workflow[];
  /** How often sockets are asked whether they live; ms. */
  readonly pingMs?: number;
  /** Called with every control plane that comes up; for tests that look behind the API. */
  readonly onControlPlane?: (plane: ControlPlane) => void;
}

/** What requests in flight get to end at a stop. */
const HTTP_GRACE_MS = 2_000;
/** After this long a stop no longer waits. */
const STOP_MS = 9_500;

/**
 * Brings everything up, in the order in which it stands on each other, and down again in reverse.
 *
 * @throws StartError, in one sentence, where the port or the data directory is in use or the database cannot be reached.
 */
export async function createApp(config: Config, options: AppOptions = {}): Promise<App> {
  const log = options.log ?? createLog(config.logLevel);
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const bound = await bindPort(config);
  // Comes last and finds it closed already where the server ran.
  const closers: (() => Promise<void>)[] = [() => bound.close()];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) {
      await close().catch((error: unknown) => log.error({ err: error }, 'a part could not be closed properly'));
    }
  };
  try {
    const kept = await loadAdminToken(config.adminToken, config.dataDir);
    const plane = await startControlPlane({ config, log, clock, random }).catch((error: unknown) => {
      throw databaseFailure(error);
    });
    closers.push(() => plane.close());
    options.onControlPlane?.(plane);
    const adminToken = await tokenAfterReset(kept, config, plane, log);
    const { services, access, login, start, close } = composeServices(plane, {
      config,
      log,
      clock,
      random,
      adminToken,
    });
    closers.push(close);
    await start();
    const http = startHttpServer({
      bound,
      config,
      clock,
      log,
      access,
      login,
      pipeline: createPipeline(buildSchema()),
      createContext: contextFactory(services, access),
      readiness: () => checkDatabase(plane),
      metrics: createPrometheus(services.metrics, () => plane.dispatcher.leading),
      ...(options.pingMs === undefined ? {} : { pingMs: options.pingMs }),
    });
    closers.push(() => stopHttp(http, plane));
    if (config.embeddedWorker) {
      const loopback = `http://${config.host.includes(':') && config.host !== '::' ? `[${config.host}]` : anyAddress(config.host) ? '127.0.0.1' : config.host}:${http.port}`;
      const worker = startEmbeddedWorker({
        config,
        url: loopback,
        token: access.localToken,
        workflows: options.workflows ?? [],
        log,
      });
      closers.push(() => worker.close());
    }
    log.info(
      { url: http.url, database: plane.database.kind, worker: config.embeddedWorker ? config.workerName : null },
      'listening',
    );
    return {
      url: http.url,
      port: http.port,
      adminToken,
      loginLink: () => `${http.url}/#login=${access.makeLoginCode()}`,
      close: () => {
        http.refuse();
        return inTime(closeAll(), STOP_MS, log);
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** The token of the installation, or where a reset has ended it, another one. */
async function tokenAfterReset(token: string, config: Config, plane: ControlPlane, log: Log): Promise<string> {
  if (!(await isRevokedInstallationToken(plane.executor, token))) return token;
  if (config.adminToken !== null) {
    log.warn('MUSTER_ADMIN_TOKEN was ended by `muster admin reset` and lets nobody in: set it to the new token');
    return token;
  }
  const made = await replaceAdminToken(config.dataDir);
  await isRevokedInstallationToken(plane.executor, made);
  return made;
}

async function stopHttp(http: HttpServer, plane: ControlPlane): Promise<void> {
  await plane.drain();
  await http.close(HTTP_GRACE_MS);
}

async function checkDatabase(plane: ControlPlane): Promise<string | null> {
  try {
    await plane.database.query('SELECT 1');
    return null;
  } catch {
    return 'the database does not answer';
  }
}

function anyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

async function inTime(work: Promise<void>, ms: number, log: Log): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      log.warn('the stop took too long and was cut short');
      resolve();
    }, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
