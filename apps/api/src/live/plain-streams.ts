import { isTerminal, MusterError } from '@muster/core';
import type { DecisionFilterArgs } from '../modules/decision/decision-list.ts';
import type { StoredDecision } from '../modules/decision/stored-decision.ts';
import type { EventRow } from '../modules/execution/execution-rows.ts';
import type { FleetFigures } from '../modules/metrics/fleet-metrics.ts';
import type { Viewer } from '../modules/viewer/viewer.ts';
import type { Services } from '../services.ts';
import { Bell, pause, stream } from './stream.ts';

const SAMPLE_PER_SECOND = 50;
const MAX_BUFFERED = 500;
const EVENT_PAGE = 200;
/** What the bus loses, a look at the table finds. */
const TICK_MS = 1_000;

/** Who asks, with what he may do at the moment of looking. Errors: UNAUTHENTICATED, where his credential has ended. */
export interface Asking {
  readonly viewer: Viewer;
}

/**
 * The history of an execution after a sequence, then what happens, until it has ended and everything was told. `own`: of what the viewer has just started,
 * whether or not he may read it otherwise. Errors: NOT_FOUND, also where it may not be read any more.
 */
export function executionEventStream(
  { executionReads, bus }: Services,
  id: string,
  afterSequence: number,
  asking: Asking,
  own = false,
): AsyncGenerator<EventRow, void, void> {
  return stream(async function* (signal) {
    const bell = new Bell();
    const stop = bus.subscribe('execution', (message) => {
      if (message.id === id) bell.ring();
    });
    try {
      let after = afterSequence;
      while (!signal.aborted) {
        // The state is read before the history: of an ended execution the history is then whole.
        const { viewer } = asking;
        const row = (await executionReads[own ? 'acted' : 'byIds']([id], viewer)).get(id);
        if (!row) throw new MusterError('NOT_FOUND', 'There is no such execution.', { field: 'id' });
        const events = await executionReads.events(id, after, EVENT_PAGE, viewer);
        for (const event of events) {
          yield event;
          after = event.sequence;
        }
        if (events.length === EVENT_PAGE) continue;
        if (isTerminal(row.state)) return;
        await bell.wait(TICK_MS, signal);
      }
    } finally {
      stop();
    }
  });
}

/** Every decision as it is made; at most 50 a second unless an execution is named. A slow reader misses the oldest. */
export function decisionStream(
  services: Services,
  filter: {
    args: DecisionFilterArgs;
    executionId: string | null;
    workflowRef: string | null;
    deploymentId: number | null;
  },
  asking: Asking,
): AsyncGenerator<StoredDecision, void, void> {
  const { bus, decisions } = services;
  return stream(async function* (signal) {
    const bell = new Bell();
    const buffered: string[] = [];
    let second = 0;
    let taken = 0;
    const stop = bus.subscribe('decision', ({ id, executionId }) => {
      if (filter.executionId !== null) {
        if (executionId !== filter.executionId) return;
      } else {
        const now = Math.floor(performance.now() / 1000);
        if (now !== second) {
          second = now;
          taken = 0;
        }
        if (taken >= SAMPLE_PER_SECOND) return;
        taken += 1;
      }
      buffered.push(id);
      if (buffered.length > MAX_BUFFERED) buffered.shift();
      bell.ring();
    });
    try {
      while (!signal.aborted) {
        const ids = buffered.splice(0);
        if (ids.length === 0) {
          await bell.wait(null, signal);
          continue;
        }
        const found = await decisions.byIds(ids, asking.viewer);
        const matching = await matchingDecisions(
          ids.flatMap((id) => found.get(id) ?? []),
          filter,
          services,
          asking.viewer,
        );
        for (const decision of matching) yield decision;
      }
    } finally {
      stop();
    }
  });
}

async function matchingDecisions(
  found: readonly StoredDecision[],
  { args, workflowRef, deploymentId }: Parameters<typeof decisionStream>[1],
  { executionReads, workflowStore }: Services,
  viewer: Viewer,
): Promise<StoredDecision[]> {
  const versions =
    workflowRef === null ? null : await workflowStore.versionsByIds(found.map(({ versionId }) => versionId));
  const matching = found.filter(({ decision, at, versionId }) => {
    const had = (name: string): boolean => decision.candidates.some(({ worker }) => worker === name);
    return (
      (!args.outcomes || args.outcomes.includes(decision.outcome)) &&
      (versions === null || versions.get(versionId)?.workflowRef === workflowRef) &&
      (args.worker == null || decision.winner === args.worker || had(args.worker)) &&
      (args.winner == null || decision.winner === args.winner) &&
      (args.candidate == null || had(args.candidate)) &&
      (args.blinded == null || decision.blinded === args.blinded) &&
      (args.degraded == null || (decision.degraded !== null) === args.degraded) &&
      (args.after == null || at >= args.after) &&
      (args.before == null || at < args.before)
    );
  });
  if (deploymentId === null || matching.length === 0) return matching;
  const rows = await executionReads.byIds(
    matching.map(({ executionId }) => executionId),
    viewer,
  );
  return matching.filter(({ executionId }) => rows.get(executionId)?.deploymentId === deploymentId);
}

/** The figures now and then at every interval. */
export function metricsStream(
  { metrics }: Services,
  intervalMs: number,
  asking: Asking,
): AsyncGenerator<FleetFigures, void, void> {
  return stream(async function* (signal) {
    while (!signal.aborted) {
      yield await metrics.current(asking.viewer);
      await pause(intervalMs, signal);
    }
  });
}
