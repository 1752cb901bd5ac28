import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';
import type { Checks } from './oidc-provider-client.ts';

/** A login that is under way at the provider. */
export interface OidcTransaction extends Checks {
  /** Where the browser goes afterwards: a path of this server. */
  readonly returnTo: string;
  /** The session cookie that the browser had before; null: none. */
  readonly before: string | null;
}

export const TRANSACTION_SECONDS = 600;
const AUDIENCE = 'oidc-login';

/** Seals a login that is under way into a cookie, so that any replica can finish it and nobody can read or change it. */
export class SealedTransactions {
  readonly #key: Uint8Array;

  /** `secret`: one that all replicas share. */
  constructor(secret: Uint8Array) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(), AUDIENCE, 32));
  }

  seal({ state, nonce, verifier, returnTo, before }: OidcTransaction): Promise<string> {
    return new EncryptJWT({ state, nonce, verifier, returnTo, before })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setAudience(AUDIENCE)
      .setIssuedAt()
      .setExpirationTime(`${TRANSACTION_SECONDS}s`)
      .encrypt(this.#key);
  }

  /** null: it is not ours, was changed, or is too old. */
  async open(text: string): Promise<OidcTransaction | null> {
    try {
      const { payload } = await jwtDecrypt(text, this.#key, {
        audience: AUDIENCE,
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        requiredClaims: ['exp'],
      });
      return payload as unknown as OidcTransaction;
    } catch {
      return null;
    }
  }
}
