import type { Config } from './config.ts';
import type { ControlPlane } from './control-plane.ts';
import { limitKey } from './http/client-address.ts';
import type { Access } from './modules/access/access.ts';
import { ApiTokenService } from './modules/access/api-token-service.ts';
import { ApiTokenStore } from './modules/access/api-token-store.ts';
import { LoginSessionService } from './modules/access/login-session-service.ts';
import { LoginSessionStore } from './modules/access/login-session-store.ts';
import { PrincipalService } from './modules/access/principal-service.ts';
import { PrincipalStore } from './modules/access/principal-store.ts';
import { RoleService } from './modules/access/role-service.ts';
import { RoleStore } from './modules/access/role-store.ts';
import type { LoginThrottle } from './modules/login/login-throttle.ts';

export interface AccessServices {
  readonly principals: PrincipalService;
  readonly accessRoles: RoleService;
  readonly apiTokens: ApiTokenService;
  readonly loginSessions: LoginSessionService;
}

/** What people do to principals, roles, tokens and sessions; who is known by them is `access`. */
export function createAccessServices(
  plane: ControlPlane,
  { config, access, throttle }: { config: Config; access: Access; throttle: LoginThrottle },
): AccessServices {
  const { database, bus } = plane;
  const newId = (): string => plane.ids.next();
  const now = (): number => database.now();
  const store = new PrincipalStore(database.prisma, newId, now);
  const roles = new RoleService(new RoleStore(database.prisma, newId, now), bus);
  const tokens = new ApiTokenStore(database.prisma, newId, now);
  const sessions = new LoginSessionStore(database.prisma, newId, now, config.sessionIdleSeconds);
  return {
    principals: new PrincipalService({
      store,
      roles,
      bus,
      principal: (name) => access.principal(name),
      guess: (name, address) => throttle.attempt('PASSWORD', name, limitKey(address)),
    }),
    accessRoles: roles,
    apiTokens: new ApiTokenService({ store: tokens, principals: store, roles, bus, now }),
    loginSessions: new LoginSessionService({ store: sessions, principals: store, bus }),
  };
}
