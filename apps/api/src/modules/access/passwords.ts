import { hash, verify } from '@node-rs/argon2';
import { type Issue, MusterError } from '@muster/core';

const MIN_LENGTH = 12;
const MAX_LENGTH = 128;
/** Each takes 19 MiB and a thread for some 50 ms. */
const AT_ONCE = 2;
const MAX_WAITING = 50;
/** argon2id, which the library has as a number. */
const OPTIONS = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Passwords are hashed off the event loop, at most two at once; who comes while fifty wait is sent away. */
export class Passwords {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  #decoy: Promise<string> | null = null;

  /** Errors: RATE_LIMITED where too many are being hashed. */
  hash(password: string): Promise<string> {
    return this.#inTurn(() => hash(normal(password), OPTIONS));
  }

  /** Takes the same time where there is no hash to compare with (`stored` null). Errors: RATE_LIMITED. */
  async verify(stored: string | null, password: string): Promise<boolean> {
    const tooLong = password.length > 2 * MAX_LENGTH;
    const against = stored ?? (await (this.#decoy ??= this.hash('nobody has this password')));
    const fits = await this.#inTurn(() => verify(against, tooLong ? '' : normal(password)));
    return fits && stored !== null && !tooLong;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) {
      if (this.#waiting.length >= MAX_WAITING)
        throw new MusterError('RATE_LIMITED', 'Too many passwords are being checked; try again in a moment.');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}

/** The problems of a new password: 12 to 128 characters, and not the name. */
export function checkPassword(password: string, name: string, path: string): Issue[] {
  const length = [...normal(password)].length;
  if (length < MIN_LENGTH || length > MAX_LENGTH) {
    const message = `a password has from ${MIN_LENGTH} to ${MAX_LENGTH} characters`;
    return [{ path, code: length < MIN_LENGTH ? 'PASSWORD_TOO_SHORT' : 'PASSWORD_TOO_LONG', message }];
  }
  if (!password.isWellFormed()) return [{ path, code: 'TEXT_SHAPE', message: 'a password is well-formed Unicode' }];
  if (normal(password).toLowerCase() === name.toLowerCase())
    return [{ path, code: 'PASSWORD_IS_NAME', message: 'a password is not the name' }];
  return [];
}

/** The same characters typed at another keyboard may come in another form. */
function normal(password: string): string {
  return password.normalize('NFKC');
}
