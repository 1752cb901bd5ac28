import type { Database } from '@muster/db';
import type { Log } from '../log.ts';
import type { Bus } from './bus.ts';
import { createInProcessBus } from './in-process-bus.ts';
import { createPostgresBus } from './postgres-bus.ts';

/** The bus that a database calls for: one process needs none between processes. `origin` names this one. */
export function createBus(database: Database, origin: string, log: Log): Promise<Bus> {
  const onError = (topic: string, error: unknown): void => log.error({ err: error, topic }, 'the bus had an error');
  return database.kind === 'embedded'
    ? Promise.resolve(createInProcessBus(onError))
    : createPostgresBus({ connect: () => database.direct(), origin, onError });
}
