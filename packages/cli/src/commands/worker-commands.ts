import { WorkerListDocument, WorkerShowDocument, type WorkerShowQuery } from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { paintState, type Style } from '../output/style.ts';
import { renderFields, renderTable, titled } from '../output/table.ts';
import { ago, bytes, loadOf, shortNumber, shortValue } from '../output/words.ts';
import { parsePairs } from '../settings/parse-arguments.ts';
import { allPages } from './all-pages.ts';
import { type CommandContext, show } from './context.ts';

export interface WorkerListFlags {
  readonly role?: readonly string[];
  readonly label?: readonly string[];
  readonly search?: string;
  /** false: without the metrics. */
  readonly metrics?: boolean;
}

/** `muster worker list`. */
export async function workerList(context: CommandContext, flags: WorkerListFlags): Promise<void> {
  const filter = {
    ...(flags.role === undefined ? {} : { roles: [...flags.role] }),
    ...(flags.label === undefined ? {} : { labels: labelsOf(flags.label) }),
    ...(flags.search === undefined ? {} : { search: flags.search }),
  };
  const { nodes, more } = await allPages(async (first, after) => {
    return (await context.client.request(WorkerListDocument, { first, after, filter })).workers;
  });
  show(context, nodes, (style) => {
    if (nodes.length === 0) return 'No workers. Start one: muster worker start FILE';
    const now = Date.now();
    const metrics = flags.metrics !== false;
    const rows = nodes.map((worker) => [
      worker.name,
      worker.role,
      paintState(worker.status, style),
      worker.availability === 'ACTIVE' ? '' : paintState(worker.availability, style),
      loadOf(worker.load, worker.capacity),
      worker.labels.map(({ key, value }) => `${key}=${value}`).join(' '),
      ago(worker.lastSeenAt, now),
      worker.statusReasons.join('; '),
      ...(metrics ? [worker.metrics.map(metricText).join(' ')] : []),
    ]);
    const titles = ['name', 'role', 'status', '', 'load', 'labels', 'seen', 'because', ...(metrics ? ['metrics'] : [])];
    const columns = titled(titles, ['name', 'role', 'status', '', 'load', 'seen']);
    return renderTable(columns, rows, style) + (more ? '\n… and more' : '');
  });
}

/** `key=value`, as short as it goes: `queue_depth=4`, and `(stale)` where it no longer counts. */
function metricText({
  key,
  value,
  stale,
}: {
  readonly key: string;
  readonly value: number;
  readonly stale: boolean;
}): string {
  const shown = key.endsWith('_bytes') ? (bytes(value) ?? '').replace(' ', '') : shortNumber(value);
  return `${key}=${shown}${stale ? '(stale)' : ''}`;
}

function labelsOf(pairs: readonly string[]): { key: string; value: string }[] {
  return Object.entries(parsePairs(pairs, '--label')).map(([key, value]) => ({ key, value }));
}

/** `muster worker show NAME`. */
export async function workerShow(context: CommandContext, name: string): Promise<void> {
  const { worker } = await context.client.request(WorkerShowDocument, { name });
  if (worker === null) throw new CommandError(`There is no worker ${name}.`, exitCodes.notFound);
  show(context, worker, (style) => workerText(worker, Date.now(), style));
}

function workerText(worker: NonNullable<WorkerShowQuery['worker']>, now: number, style: Style): string {
  const { resources } = worker;
  const fields = renderFields(
    [
      ['name', style.bold(worker.name)],
      ['role', worker.role],
      ['status', [paintState(worker.status, style), ...worker.statusReasons].join('; ')],
      ['availability', paintState(worker.availability, style)],
      ['load', loadOf(worker.load, worker.capacity)],
      ['host', worker.hostname],
      ['version', worker.version],
      ['instance', worker.instanceId],
      ['started', `${worker.startedAt} (${ago(worker.startedAt, now)} ago)`],
      ['seen', `${ago(worker.lastSeenAt, now)} ago${worker.connected ? '' : ', not connected'}`],
      ['runners', worker.runners.join(', ')],
      ['workflows', worker.workflows.length === 0 ? 'any' : worker.workflows.join('\n')],
      ['labels', worker.labels.map(({ key, value }) => `${key}=${value}`).join('\n')],
      ['metadata', worker.metadata.map(({ key, value }) => `${key}=${shortValue(value, 80)}`).join('\n')],
      ['cpu', resources.cpuTotal === null ? null : `${shortNumber(resources.cpuTotal)} cores`],
      ['memory', bytes(resources.memoryTotal)],
      ['disk', bytes(resources.diskTotal)],
      ['gpus', resources.gpus.map((gpu) => gpu.name).join('\n')],
      ['packages', worker.packages.map((one) => `${one.name} ${one.version}`).join('\n')],
      [
        'checks',
        worker.checks
          .map((one) => `${one.healthy ? '✓' : '✗'} ${one.name}${one.message === null ? '' : `: ${one.message}`}`)
          .join('\n'),
      ],
    ],
    style,
  );
  if (worker.metrics.length === 0) return fields;
  const rows = worker.metrics.map((metric) => [
    metric.key,
    metric.key.endsWith('_bytes') ? (bytes(metric.value) ?? '') : shortNumber(metric.value),
    `${ago(metric.at, now)}${metric.stale ? ' (stale)' : ''}`,
  ]);
  const columns = [{ title: 'metric' }, { title: 'value', align: 'right' as const }, { title: 'age' }];
  return `${fields}\n\n${renderTable(columns, rows, style)}`;
}
