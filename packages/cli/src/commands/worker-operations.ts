import { WorkerAvailabilitySetDocument, WorkerRemoveDocument } from '@muster/client';
import { type CommandContext, show } from './context.ts';

const said = {
  ACTIVE: 'is given work again.',
  CORDONED: 'is given nothing new.',
  DRAINING: 'is given nothing new and leaves when it is idle.',
} as const;

/** `muster worker cordon|uncordon|drain NAME`. */
export async function workerAvailability(
  context: CommandContext,
  name: string,
  availability: keyof typeof said,
): Promise<void> {
  const variables = { input: { worker: name, availability } };
  const { setWorkerAvailability } = await context.client.request(WorkerAvailabilitySetDocument, variables);
  const { worker } = setWorkerAvailability;
  show(context, worker, () => {
    const runs = worker.load === 0 || availability === 'ACTIVE' ? '' : ` It runs ${worker.load} now.`;
    return `${worker.name} ${said[availability]}${runs}`;
  });
}

/** `muster worker remove NAME`. */
export async function workerRemove(context: CommandContext, name: string): Promise<void> {
  const { removeWorker } = await context.client.request(WorkerRemoveDocument, { name });
  show(context, removeWorker, () => `${removeWorker.name} is removed.`);
}
