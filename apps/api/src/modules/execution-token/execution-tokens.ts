import { createHmac, timingSafeEqual } from 'node:crypto';

/** What an execution's token begins with. */
export const EXECUTION_TOKEN_PREFIX = 'msx_';
const ID_BYTES = 16;
const CLAIM_BYTES = ID_BYTES + 4;
const MAC_BYTES = 32;
/** Keeps signatures of this kind apart from any other that is ever made with the same key. */
const PURPOSE = 'muster execution token 1';

/** One claim of an execution, and whose execution it is. */
export interface TokenSubject {
  /** Raw id: 32 hex digits. */
  readonly id: string;
  readonly generation: number;
  readonly submittedBy: string;
}

/** A token as it came: which claim it says it is of, and whether it was made for that claim of somebody's execution. */
export interface ReadToken {
  readonly id: string;
  readonly generation: number;
  /** Compares in constant time. */
  isOf(submittedBy: string): boolean;
}

/**
 * Makes and reads the tokens of executions. They are stored nowhere: a token names its claim, and is signed for that and for whoever
 * submitted the execution.
 */
export class ExecutionTokens {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  sign({ id, generation, submittedBy }: TokenSubject): string {
    const claim = Buffer.alloc(CLAIM_BYTES);
    claim.write(id, 0, 'hex');
    claim.writeUInt32BE(generation, ID_BYTES);
    return EXECUTION_TOKEN_PREFIX + Buffer.concat([claim, this.#mac(claim, submittedBy)]).toString('base64url');
  }

  /** null: it is none. What it says is true only where `isOf` says so. */
  read(token: string): ReadToken | null {
    if (!/^msx_[A-Za-z0-9_-]{70}$/.test(token)) return null;
    const bytes = Buffer.from(token.slice(EXECUTION_TOKEN_PREFIX.length), 'base64url');
    if (bytes.length !== CLAIM_BYTES + MAC_BYTES) return null;
    const claim = bytes.subarray(0, CLAIM_BYTES);
    return {
      id: claim.toString('hex', 0, ID_BYTES),
      generation: claim.readUInt32BE(ID_BYTES),
      isOf: (submittedBy) => timingSafeEqual(this.#mac(claim, submittedBy), bytes.subarray(CLAIM_BYTES)),
    };
  }

  #mac(claim: Uint8Array, submittedBy: string): Buffer {
    return createHmac('sha256', this.#key).update(PURPOSE).update(claim).update(submittedBy).digest();
  }
}
