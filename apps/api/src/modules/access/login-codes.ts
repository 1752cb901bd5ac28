import { hashOf, newSecret } from './secrets.ts';

const CODE_MS = 15 * 60_000;
const MAX_CODES = 100;

/** The codes of printed links: each logs one browser in, once, within 15 minutes. They live in this process alone. */
export class LoginCodes {
  readonly #expiry = new Map<string, number>();
  readonly #now: () => number;

  /** `now`: ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  make(): string {
    const code = newSecret('');
    this.#expiry.set(hashOf(code).toString('hex'), this.#now() + CODE_MS);
    if (this.#expiry.size > MAX_CODES) this.#expiry.delete(this.#expiry.keys().next().value as string);
    return code;
  }

  /** Whether it was good; it is not any more. */
  spend(code: string): boolean {
    const hash = hashOf(code).toString('hex');
    const expires = this.#expiry.get(hash);
    this.#expiry.delete(hash);
    return expires !== undefined && this.#now() < expires;
  }
}
