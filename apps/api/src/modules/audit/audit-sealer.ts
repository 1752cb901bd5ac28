import { type LeaderSession, LeadershipLostError } from '../../dispatch/statements/fence.ts';
import type { Log } from '../../log.ts';
import { type AuditChainStore, SEAL_BATCH } from './audit-chain-store.ts';

const TICK_MS = 2_000;

export interface AuditSealerDeps {
  chain: Pick<AuditChainStore, 'seal'>;
  /** The session to write with; null: another replica seals. */
  session(): LeaderSession | null;
  log: Log;
}

/** Seals new audit entries into the chain while this process leads. Nobody who writes an entry waits for it. */
export class AuditSealer {
  readonly #deps: AuditSealerDeps;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(deps: AuditSealerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.tick().finally(() => {
        this.#running = null;
      });
    }, TICK_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#running;
  }

  /** Seals what is there, batch by batch. Never rejects. */
  async tick(): Promise<void> {
    const { chain, session, log } = this.#deps;
    try {
      for (;;) {
        const leader = session();
        if (leader === null || this.#closed || (await chain.seal(leader)) < SEAL_BATCH) return;
      }
    } catch (error) {
      if (error instanceof LeadershipLostError) return;
      log.error({ err: error }, 'audit entries could not be sealed; the next try follows');
    }
  }
}
