import type { ApiTokenRow, ApiTokenStatus } from './api-token-store.ts';

/** `now`: ms by the database's clock. */
export function apiTokenStatus({ revokedAt, expiresAt }: ApiTokenRow, now: number): ApiTokenStatus {
  if (revokedAt !== null) return 'REVOKED';
  return expiresAt !== null && expiresAt.getTime() <= now ? 'EXPIRED' : 'ACTIVE';
}
