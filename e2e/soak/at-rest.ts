import { ask } from '../support/graphql.ts';
import type { Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import type { Findings } from './invariants.ts';
import type { LiveTail } from './live-tail.ts';

/**
 * What replicas and their subscribers say once nothing moves any more: load that is left on a worker, and executions that a subscriber takes for
 * unfinished. `tails` has one subscriber for each server. What is still on its way may take so many seconds.
 */
export async function atRest(
  servers: readonly Server[],
  tails: readonly LiveTail[],
  seconds: number,
): Promise<Findings> {
  const findings: Findings = {};
  for (const [i, server] of servers.entries()) {
    await until('the loads are zero', async () => (await loads(server)).length === 0, seconds).catch(() => undefined);
    findings[`replica ${i + 1}: loads are zero`] = await loads(server);
    const tail = tails[i] as LiveTail;
    await until('the subscriber knows', () => unseen(tail).length === 0, seconds).catch(() => undefined);
    findings[`replica ${i + 1}: its subscriber has seen every end`] = unseen(tail).slice(0, 20);
  }
  return findings;
}

async function loads(server: Server): Promise<string[]> {
  const { workers } = await ask<{ workers: { nodes: { name: string; load: number }[] } }>(
    server,
    '{ workers(first: 200) { nodes { name load } } }',
  );
  return workers.nodes.filter(({ load }) => load > 0).map(({ name, load }) => `${name} ${load}`);
}

function unseen(tail: LiveTail): string[] {
  return tail.size === 0 ? ['it has seen nothing'] : tail.open();
}
