import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { createLoaders } from './graphql/loaders.ts';
import { createPipeline } from './graphql/pipeline.ts';
import { buildSchema } from './graphql/schema.ts';
import { loadAdminToken } from './http/admin-token.ts';
import { createCredentials } from './http/credentials.ts';
import { startHttpServer } from './http/http-server.ts';
import { createLog, type Log } from './log.ts';
import type { Services } from './services.ts';

export interface App {
  readonly url: string;
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
}

/** Brings everything up, in the order in which it stands on each other, and down again in reverse. */
export async function createApp(config: Config, options: AppOptions = {}): Promise<App> {
  const log = options.log ?? createLog(config.logLevel);
  const clock = options.clock ?? systemClock;
  const adminToken = await loadAdminToken(config.adminToken, config.dataDir);
  const services: Services = { config, clock };
  const credentials = createCredentials(adminToken, randomBytes(32), clock);
  const pipeline = createPipeline(buildSchema());
  const http = await startHttpServer({
    config,
    log,
    credentials,
    pipeline,
    createContext: (viewer, requestId, unsentBytes) => ({
      viewer,
      requestId,
      log,
      services,
      loaders: createLoaders(services),
      unsentBytes,
      nodes: 0,
    }),
    readiness: () => Promise.resolve(null),
    metrics: () => Promise.resolve(''),
  });
  log.info({ url: http.url }, 'listening');
  return {
    url: http.url,
    adminToken,
    loginLink: () => `${http.url}/#login=${credentials.makeLoginCode()}`,
    close: () => http.close(5_000),
  };
}
