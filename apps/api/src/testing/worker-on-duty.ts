import type { InboxEvent } from '../modules/worker/inbox.ts';
import type { WorkerReport } from '../modules/worker/report-service.ts';
import { healthy, operator, registration, type TestControlPlane } from './test-control-plane.ts';

export const emptyReport: WorkerReport = {
  claims: [],
  starts: [],
  calls: [],
  steps: [],
  events: [],
  suspends: [],
  ends: [],
  releases: [],
};

/** A worker on duty whose inbox is read by hand. */
export async function onDuty(
  plane: Pick<TestControlPlane, 'workforce'>,
  name: string,
  more: Parameters<typeof registration>[1] = {},
) {
  const { protocol } = plane.workforce;
  const instance = more.instanceId ?? `${name}-1`;
  await protocol.register(operator, registration(name, more));
  await protocol.heartbeat(operator, name, instance, healthy);
  const inbox = protocol.inbox(operator, name, instance);
  const next = async (): Promise<InboxEvent> => {
    const { value } = await inbox.next();
    if (value === undefined) throw new Error('the inbox has ended');
    return value;
  };
  const known = new Map<string, InboxEvent['assignments'][number]>();
  const report = (part: Partial<WorkerReport>) =>
    protocol.report(operator, name, instance, { ...emptyReport, ...part });
  await next();
  /** The next assignment of this execution; those of others are kept for whoever asks for them. */
  const assigned = async (id: string) => {
    for (;;) {
      const item = known.get(id);
      if (item !== undefined) {
        known.delete(id);
        return item;
      }
      for (const assignment of (await next()).assignments) known.set(assignment.id, assignment);
    }
  };
  return {
    name,
    instance,
    next,
    assigned,
    report,
    /** Waits for the assignment and claims it; answers the claim with its generation. */
    claimed: async (id: string) => {
      const { generation } = await assigned(id);
      const { claims } = await report({ claims: [{ id, generation, started: true, again: false }] });
      const claim = claims[0]?.claim;
      if (claim == null) throw new Error(`not claimed: ${claims[0]?.message}`);
      return { ...claim, generation };
    },
    hangUp: async () => void (await inbox.return(undefined)),
    leave: async () => {
      await inbox.return(undefined);
      await protocol.leave(operator, name, instance);
    },
  };
}

export type WorkerOnDuty = Awaited<ReturnType<typeof onDuty>>;
