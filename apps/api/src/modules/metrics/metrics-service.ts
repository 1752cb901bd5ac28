import type { Dispatcher } from '../../dispatch/dispatch-api.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { Log } from '../../log.ts';
import type { DeploymentDirectory } from '../deployment/deployment-directory.ts';
import type { ExecutionReader } from '../execution/execution-reader.ts';
import { mayReadExecutions, readableWorkflows } from '../viewer/readable.ts';
import type { Viewer } from '../viewer/viewer.ts';
import { roleViews } from '../worker/role-view.ts';
import { fleetFigures, type FleetFigures, type StateCounts } from './fleet-metrics.ts';

export interface MetricsServiceDeps {
  executor: Executor;
  fleet: Fleet;
  deployments: Pick<DeploymentDirectory, 'all'>;
  executions: ExecutionReader;
  dispatcher: Pick<Dispatcher, 'stats' | 'leading'>;
  /** ms by the database's clock. */
  now: () => number;
  log: Log;
}

/** How long counts of the table are good for, however many ask. */
const COUNTS_MS = 500;
const MINUTE_MS = 60_000;

/** The figures of the fleet now, and one point a minute of the last day, written by the leader. */
export class MetricsService {
  readonly #deps: MetricsServiceDeps;
  #counts: { until: number; value: Promise<StateCounts> } | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: MetricsServiceDeps) {
    this.#deps = deps;
  }

  start(): void {
    const wait = MINUTE_MS - (this.#deps.now() % MINUTE_MS);
    this.#timer = setTimeout(() => {
      if (this.#deps.dispatcher.leading) this.#writing = this.#record();
      this.start();
    }, wait);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    await this.#writing;
  }

  /** Why executions are parked is told to those alone who may read all of them: it names roles, workers and affinities. */
  async current(viewer: Viewer): Promise<FleetFigures> {
    return shown(await this.figures(), viewer);
  }

  /** For the server itself. */
  async figures(): Promise<FleetFigures> {
    const { fleet, deployments, dispatcher, now } = this.#deps;
    const counts = await this.#stateCounts();
    return fleetFigures(
      new Date(now()),
      fleet.all(),
      roleViews(fleet.roleHealth(), deployments.all()),
      counts,
      dispatcher.stats(),
    );
  }

  /** Oldest first. */
  async history(minutes: number, viewer: Viewer): Promise<FleetFigures[]> {
    const { rows } = await this.#deps.executor.run<{ at: Date; data: FleetFigures }>(
      {
        name: 'fleet-history',
        priority: 'read',
        text: 'SELECT at, data FROM fleet_minute WHERE at > clock_timestamp() - make_interval(mins => $1::int) ORDER BY at',
      },
      [minutes],
    );
    return rows.map(({ at, data }) => {
      const parkedReasons = data.parkedReasons.map((reason) => ({ ...reason, oldest: new Date(reason.oldest) }));
      return shown({ ...data, at, parkedReasons }, viewer);
    });
  }

  #stateCounts(): Promise<StateCounts> {
    const now = this.#deps.now();
    if (!this.#counts || this.#counts.until <= now) {
      const value = this.#deps.executions.counts({}, false);
      this.#counts = { until: now + COUNTS_MS, value };
      value.catch(() => {
        this.#counts = null;
      });
    }
    return this.#counts.value;
  }

  /** Errors go to the log: the next minute has its own point. */
  async #record(): Promise<void> {
    try {
      await this.#deps.executor.run(
        {
          name: 'fleet-minute',
          priority: 'background',
          text: `WITH old AS (DELETE FROM fleet_minute WHERE at < clock_timestamp() - interval '24 hours')
            INSERT INTO fleet_minute (at, data) VALUES (date_trunc('minute', clock_timestamp()), $1::json) ON CONFLICT (at) DO NOTHING`,
        },
        [JSON.stringify(await this.figures())],
      );
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the figures of this minute could not be kept');
    }
  }
}

function shown(figures: FleetFigures, viewer: Viewer): FleetFigures {
  const all = mayReadExecutions(viewer) && readableWorkflows(viewer) === 'all';
  return all ? figures : { ...figures, parkedReasons: [] };
}
