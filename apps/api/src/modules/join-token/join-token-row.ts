import type { Bindings } from './join-token-input.ts';

/** Whether a secret opens anything. USED: of a join token, which opens once. */
export type CredentialStatus = 'ACTIVE' | 'EXPIRED' | 'REVOKED' | 'USED';

/** A join token as it may be shown. */
export interface JoinTokenRow extends Bindings {
  readonly id: number;
  readonly prefix: string;
  readonly description: string | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
  /** The worker that it let in. */
  readonly usedBy: string | null;
  readonly revokedAt: Date | null;
}

/** A worker's credential as it may be shown. */
export interface WorkerCredentialRow extends Bindings {
  readonly id: number;
  readonly prefix: string;
  readonly worker: string;
  readonly role: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly lastUsedAt: Date | null;
  /** It was renewed: good until it expires, which is soon. */
  readonly replacedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** `now`: ms by the database's clock. */
export function joinTokenStatus(row: JoinTokenRow, now: number): CredentialStatus {
  if (row.usedAt !== null) return 'USED';
  return credentialStatus(row, now);
}

/** `now`: ms by the database's clock. */
export function credentialStatus(row: { revokedAt: Date | null; expiresAt: Date }, now: number): CredentialStatus {
  if (row.revokedAt !== null) return 'REVOKED';
  return row.expiresAt.getTime() <= now ? 'EXPIRED' : 'ACTIVE';
}
