import type { Viewer } from '../viewer/viewer.ts';

/** What is known of a credential that holds now. */
export interface ResolvedCredential {
  /** Without its address: that is each request's own. */
  readonly viewer: Viewer;
  /** ms by the database's clock; null: it does not expire. */
  readonly expiresAt: number | null;
  /** The principal whose disabling or change of roles ends or changes it; null: none. */
  readonly principalId: number | null;
  /** The API token that it came from, beside its own; null: none. */
  readonly tokenId?: number | null;
  /** It also ends so many ms after it was last used; `seenAt` is when that was as far as the database knows. */
  readonly idle?: { readonly seenAt: number; readonly ms: number };
  /** Asks for it again by what does not change, where the secret may. */
  readonly again?: () => Promise<ResolvedCredential | null>;
}

/** A kind of bearer token, told apart by its prefix. */
export interface TokenKind {
  /** E.g. `msw_`. */
  readonly prefix: string;
  /** false: `resolve` is called for every request, e.g. because the credential dies with something that changes often. */
  readonly cached: boolean;
  /** null: unknown, expired, revoked, or nobody's any more. */
  resolve(token: string): Promise<ResolvedCredential | null>;
}
