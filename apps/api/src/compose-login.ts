import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { ControlPlane } from './control-plane.ts';
import { limitKey } from './http/client-address.ts';
import type { Log } from './log.ts';
import type { Access } from './modules/access/access.ts';
import type { PrincipalService } from './modules/access/principal-service.ts';
import { PrincipalStore } from './modules/access/principal-store.ts';
import { FailedLogins } from './modules/login/failed-logins.ts';
import { LoginService } from './modules/login/login-service.ts';
import type { LoginThrottle } from './modules/login/login-throttle.ts';
import { ExternalPrincipalStore } from './modules/login/oidc/external-principal-store.ts';
import { OidcLogin } from './modules/login/oidc/oidc-login.ts';
import { OidcProviderClient } from './modules/login/oidc/oidc-provider-client.ts';
import { SealedTransactions } from './modules/login/oidc/sealed-transaction.ts';

export interface LoginServices {
  readonly login: LoginService;
  /** null: no identity provider is configured. */
  readonly oidc: OidcLogin | null;
  close(): Promise<void>;
}

export interface LoginOptions {
  config: Config;
  clock: Clock;
  log: Log;
  access: Access;
  throttle: LoginThrottle;
  principals: Pick<PrincipalService, 'verifyPassword'>;
}

/** The ways in that people have. */
export function createLogin(
  plane: ControlPlane,
  { config, clock, log, access, throttle, principals }: LoginOptions,
): LoginServices {
  const { database, bus } = plane;
  const { prisma } = database;
  const newId = (): string => plane.ids.next();
  const now = (): number => database.now();
  const failed = new FailedLogins(prisma, newId, log);
  const login = new LoginService({
    access,
    prisma,
    newId,
    monotonic: clock.monotonic,
    throttle,
    failed,
    limitKey,
    verifyPassword: (name, password) => principals.verifyPassword(name, password),
  });
  const oidc =
    config.oidc &&
    new OidcLogin({
      settings: config.oidc,
      client: new OidcProviderClient(config.oidc, clock.monotonic),
      sealed: new SealedTransactions(plane.idempotencyKey),
      principals: new ExternalPrincipalStore({
        prisma,
        newId,
        now,
        principals: new PrincipalStore(prisma, newId, now),
        onChange: (principalId) => bus.publish('access', { principalId }),
      }),
      login,
      failed,
      throttle,
      log,
      limitKey,
    });
  return { login, oidc, close: () => failed.close() };
}
