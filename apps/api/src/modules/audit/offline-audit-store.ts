import type { ChainHead, SealedRecord } from '@muster/core';
import { openDatabase } from '@muster/db';
import type { Config } from '../../config.ts';
import { createExecutor } from '../../dispatch/statements/executor.ts';
import { AuditChainStore } from './audit-chain-store.ts';
import { recordOf } from './audit-row.ts';

/** The chain of a database, read without a server. */
export interface OfflineAudit {
  readonly head: ChainHead;
  /** In the order of the chain, then what is not sealed yet; a page at a time. */
  entries(): AsyncGenerator<SealedRecord[], void, void>;
  close(): Promise<void>;
}

/**
 * Opens the database that a server of this configuration would use, and changes nothing in it.
 * Errors: where the data directory is in use or the database cannot be reached, or is of a release without a chain.
 */
export async function openAudit(config: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<OfflineAudit> {
  const database = await openDatabase(config.databaseUrl ?? { dataDir: config.dataDir }, { requestTimeoutMs: null });
  try {
    const chain = new AuditChainStore(createExecutor(database));
    const head = await chain.head();
    return {
      head,
      async *entries() {
        for await (const page of chain.walk()) yield page.map(recordOf);
      },
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
