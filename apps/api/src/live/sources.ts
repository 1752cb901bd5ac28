import { compareCodePoints } from '@muster/core';
import type { FleetWorker } from '../fleet/worker-record.ts';
import type { Page } from '../graphql/connection.ts';
import { encodeId } from '../graphql/ids.ts';
import type { DeploymentRow } from '../modules/deployment/deployment-store.ts';
import type { ExecutionQuery } from '../modules/execution/execution-filter.ts';
import type { ExecutionRow } from '../modules/execution/execution-rows.ts';
import { type RoleView, roleViews } from '../modules/worker/role-view.ts';
import type { Asking } from './plain-streams.ts';
import type { Services } from '../services.ts';
import type { LiveSource } from './live-view.ts';

/** Executions that a snapshot holds at most, newest first. */
const MAX_SNAPSHOT = 10_000;
const MAX_LOAD = 200;

/**
 * Workers of the fleet view, as in all sources those that the viewer may read at the moment of each event. A worker object is replaced whenever something
 * about it changes.
 */
export function workerSource(
  { fleet, workerReads, bus }: Services,
  matches: (worker: FleetWorker) => boolean,
  asking: Asking,
): LiveSource<FleetWorker> {
  return {
    watch(changed, lost) {
      const stops = [
        fleet.onChange(({ names, removed }) => changed([...names, ...removed])),
        bus.subscribe('resync', lost),
      ];
      return () => stops.forEach((stop) => stop());
    },
    snapshot: (size) =>
      chunksOf(
        workerReads
          .all(asking.viewer)
          .filter(matches)
          .sort((a, b) => compareCodePoints(a.facts.name, b.facts.name)),
        size,
      ),
    load: (names) =>
      Promise.resolve(names.flatMap((name) => workerReads.get(name, asking.viewer) ?? []).filter(matches)),
    keyOf: (worker) => worker.facts.name,
    idOf: (worker) => encodeId('wk', worker.registered ? worker.id : worker.facts.name),
    markOf: (worker) => worker,
  };
}

/** Roles: of the workers, and of the variants that name them. */
export function roleSource({ fleet, deployments, bus }: Services): LiveSource<RoleView> {
  const all = (): RoleView[] => roleViews(fleet.roleHealth(), deployments.all());
  return {
    watch(changed, lost) {
      const stops = [
        fleet.onChange(({ roles }) => changed(roles)),
        deployments.onChange(() => changed('all')),
        bus.subscribe('resync', lost),
      ];
      return () => stops.forEach((stop) => stop());
    },
    snapshot: (size) => chunksOf(all(), size),
    load(roles) {
      const wanted = new Set(roles);
      return Promise.resolve(all().filter(({ role }) => wanted.has(role)));
    },
    keys: () => all().map(({ role }) => role),
    keyOf: ({ role }) => role,
    idOf: ({ role }) => role,
    markOf: (role) => JSON.stringify(role),
  };
}

/** Deployments; their health changes with the roles that they name. */
export function deploymentSource(
  { fleet, deployments, deploymentReads, deploymentService, bus }: Services,
  asking: Asking,
): LiveSource<DeploymentRow> {
  return {
    watch(changed, lost) {
      const stops = [
        deployments.onChange((id) => changed([String(id)])),
        fleet.onChange(({ roles }) => {
          const concerned = deployments
            .all()
            .filter(({ variants }) => variants.some(({ targetRoles }) => targetRoles.some((role) => roles.has(role))));
          changed(concerned.map(({ id }) => String(id)));
        }),
        bus.subscribe('resync', lost),
      ];
      return () => stops.forEach((stop) => stop());
    },
    snapshot: (size) =>
      chunksOf(
        deploymentReads.all(asking.viewer).sort((a, b) => compareCodePoints(a.slug, b.slug)),
        size,
      ),
    load: (ids) => Promise.resolve(ids.flatMap((id) => deploymentReads.byId(Number(id), asking.viewer) ?? [])),
    keyOf: ({ id }) => String(id),
    idOf: ({ id }) => encodeId('dp', id),
    // Beside the row itself, what follows from the roles: health, shares, and how many workers a role has.
    markOf: (row) =>
      JSON.stringify([
        row.revision,
        deploymentService.shares(row),
        row.variants.flatMap(({ targetRoles }) => targetRoles).map((role) => roleMark(fleet, role)),
      ]),
  };
}

function roleMark(fleet: Services['fleet'], name: string): unknown {
  const role = fleet.roleHealth().find(({ role }) => role === name);
  return (
    role && [
      role.healthyWorkers,
      role.unhealthyWorkers,
      role.staleWorkers,
      role.offlineWorkers,
      role.unavailableWorkers,
    ]
  );
}

/** What a filter is kept for, though nothing was heard that changes what it stands for; ms. */
const QUERY_FRESH_MS = 5_000;

/**
 * Executions; the bus says which changed, the table says what they are and whether they match. `resolve` gives what the filter stands for: the
 * names in it may come to mean more (a version that is registered, a worker that joins a role), so it is asked again after each such change.
 */
export function executionSource(
  { executionReads, bus, clock }: Services,
  resolve: () => Promise<ExecutionQuery | null>,
  asking: Asking,
): LiveSource<ExecutionRow> {
  let held: { query: Promise<ExecutionQuery | null>; at: number } | null = null;
  const forget = (): void => {
    held = null;
  };
  const current = (): Promise<ExecutionQuery | null> => {
    const now = clock.monotonic();
    if (held === null || now - held.at > QUERY_FRESH_MS) {
      const query = resolve();
      held = { query, at: now };
      query.catch(forget);
    }
    return held.query;
  };
  return {
    watch(changed, lost) {
      const stops = [
        bus.subscribe('workflow', forget),
        bus.subscribe('worker', forget),
        bus.subscribe('deployment', forget),
        bus.subscribe('resync', forget),
        bus.subscribe('execution', ({ id }) => changed([id])),
        bus.subscribe('resync', lost),
      ];
      return () => stops.forEach((stop) => stop());
    },
    async *snapshot(size) {
      const query = await current();
      let after: string | null = null;
      for (let read = 0; query !== null && read < MAX_SNAPSHOT; ) {
        const page: Page = {
          limit: Math.min(size, MAX_SNAPSHOT - read),
          backward: false,
          after: after === null ? null : [after],
          before: null,
        };
        const { items, more, cursor } = await executionReads.page(query, page, asking.viewer);
        if (items.length > 0) yield items;
        read += items.length;
        after = items.at(-1)?.id ?? null;
        if (!more || cursor !== null || after === null) return;
      }
    },
    async load(ids) {
      const query = await current();
      if (query === null) return [];
      const rows: ExecutionRow[] = [];
      const wanted = query.ids === undefined ? ids : ids.filter((id) => query.ids?.includes(id));
      for (let i = 0; i < wanted.length; i += MAX_LOAD) {
        const page: Page = { limit: MAX_LOAD, backward: false, after: null, before: null };
        const these = { ...query, ids: wanted.slice(i, i + MAX_LOAD) };
        rows.push(...(await executionReads.page(these, page, asking.viewer)).items);
      }
      return rows;
    },
    keyOf: ({ id }) => id,
    idOf: ({ id }) => encodeId('ex', id),
    markOf: ({ revision }) => revision,
  };
}

async function* chunksOf<T>(items: readonly T[], size: number): AsyncGenerator<readonly T[], void, void> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size);
}
