import { type AuditRecord, CHAIN_START, sealHash } from './chain.ts';

/** An entry with its seal, if it has one by now. */
export interface SealedRecord extends AuditRecord {
  /** From 1 without a gap; null: not sealed yet. */
  readonly position: number | null;
  /** 64 hex digits. */
  readonly hash: string | null;
}

/** The last entry of a chain. */
export interface ChainHead {
  readonly position: number;
  readonly hash: string;
}

export type ChainProblemCode = 'TAMPERED' | 'MISSING' | 'OUT_OF_ORDER' | 'BACKDATED' | 'HEAD';

export interface ChainProblem {
  readonly code: ChainProblemCode;
  readonly position: number | null;
  /** Id of the entry; null: it is not there. */
  readonly id: string | null;
  readonly message: string;
}

export interface ChainReport {
  readonly sealed: number;
  /** Entries that no seal protects yet. */
  readonly unsealed: number;
  /** Of the entries that were there. */
  readonly head: ChainHead;
  /** The first hundred. */
  readonly problems: readonly ChainProblem[];
  /** Of all. */
  readonly problemCount: number;
}

/** No transaction of the server is open for so long: what was sealed later than this after its time was not there before. */
const LATE_MS = 600_000;
const MAX_PROBLEMS = 100;

/**
 * Follows a chain from its first entry on: each sealed entry in the order of its position, then those that are not sealed yet. Says which entry was changed,
 * moved, put in or taken out. What cannot be seen from the entries alone — that the whole chain was written anew, or ends earlier — is seen by its head: the one
 * that the server remembers, and those that somebody has kept elsewhere (`known`).
 */
export class ChainCheck {
  readonly #known: readonly ChainHead[];
  readonly #problems: ChainProblem[] = [];
  #problemCount = 0;
  #position = 0;
  /** What may stand before the next entry: the hash as it stands there, and as it ought to. */
  #previous: readonly (string | null)[] = [CHAIN_START];
  #hash = CHAIN_START;
  #sealed = 0;
  #unsealed = 0;
  #newest = Number.NEGATIVE_INFINITY;

  constructor(known: readonly ChainHead[]) {
    this.#known = known;
  }

  add(record: SealedRecord): void {
    const { position, hash, id } = record;
    this.#checkTime(record);
    if (position === null || hash === null) {
      this.#unsealed += 1;
      return;
    }
    this.#sealed += 1;
    if (position <= this.#position) {
      this.#report('OUT_OF_ORDER', position, id, `stands at position ${position}, where another entry stood already`);
      return;
    }
    if (position > this.#position + 1) {
      this.#missing(this.#position + 1, position - 1);
      // What ought to stand before it is gone with what is missing: it proves itself by the entry after it.
      this.#previous = [null];
    }
    const [stated = null] = this.#previous;
    const fits = this.#previous.some((previous) => previous !== null && sealHash(previous, position, record) === hash);
    if (!fits && stated !== null) {
      this.#report('TAMPERED', position, id, 'does not fit its hash: it, its hash or its place was changed');
    }
    const computed = fits || stated === null ? null : sealHash(stated, position, record);
    this.#previous = computed === null ? [hash] : [hash, computed];
    this.#position = position;
    this.#hash = hash;
    for (const known of this.#known) {
      if (known.position === position && known.hash !== hash)
        this.#report('HEAD', position, id, `its hash is not the ${known.hash} that was known of this position`);
    }
  }

  end(): ChainReport {
    const furthest = Math.max(0, ...this.#known.map(({ position }) => position));
    if (furthest > this.#position) this.#missing(this.#position + 1, furthest);
    return {
      sealed: this.#sealed,
      unsealed: this.#unsealed,
      head: { position: this.#position, hash: this.#hash },
      problems: this.#problems,
      problemCount: this.#problemCount,
    };
  }

  #checkTime({ id, position }: SealedRecord): void {
    const made = Number.parseInt(id.slice(3, 15), 16);
    if (made < this.#newest - LATE_MS)
      this.#report('BACKDATED', position, id, 'was put in long after its time: newer entries are sealed before it');
    this.#newest = Math.max(this.#newest, made);
  }

  #missing(from: number, to: number): void {
    const message = from === to ? `position ${from} is missing` : `positions ${from} to ${to} are missing`;
    this.#report('MISSING', from, null, message);
  }

  #report(code: ChainProblemCode, position: number | null, id: string | null, message: string): void {
    this.#problemCount += 1;
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ code, position, id, message });
  }
}
