import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startPostgresCluster } from '@muster/db/testing';
import pg from 'pg';
import { ask } from '../support/graphql.ts';
import { hastyLiveness, Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { atRest } from './at-rest.ts';
import { Chance } from './chance.ts';
import { type Blows, disturb } from './disturbance.ts';
import { type Findings, findBroken } from './invariants.ts';
import { LiveTail } from './live-tail.ts';
import { type Accepted, resumePaused, submitAll } from './soak-load.ts';
import { SoakMember } from './soak-member.ts';

export interface SoakOptions {
  /** `muster serve` processes on one PostgreSQL. */
  readonly replicas: number;
  readonly workers: number;
  /** How long work is submitted and things are broken. */
  readonly seconds: number;
  readonly executions: number;
  /** Seconds between two kills of a server; with several replicas it is the leader that dies. */
  readonly serverSeconds: number;
  readonly seed: number;
  /** Told what happens, a line each. */
  readonly say: (line: string) => void;
}

export interface SoakReport {
  readonly accepted: number;
  readonly blows: Blows;
  readonly broken: Findings;
  /** Longest time without any assignment while something was queued, in seconds, after each kill of a server. */
  readonly stalls: readonly number[];
}

const capacity = 4;

/** What is to be done at the end, last first. */
class Undo {
  readonly #steps: (() => unknown)[] = [];

  defer(step: () => unknown): void {
    this.#steps.push(step);
  }

  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) await step();
  }
}

/** Runs a fleet under blows and reads afterwards whether anything was lost or done twice. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const undo = new Undo();
  try {
    return await soakWith(options, undo);
  } finally {
    await undo.run();
  }
}

async function soakWith(options: SoakOptions, undo: Undo): Promise<SoakReport> {
  const { say } = options;
  const cluster = await startPostgresCluster();
  undo.defer(() => cluster.stop());
  const home = mkdtempSync(path.join(tmpdir(), 'muster-soak-'));
  undo.defer(() => rmSync(home, { recursive: true, force: true }));
  const db = new pg.Client({ connectionString: cluster.url });
  await db.connect();
  undo.defer(() => db.end());
  const servers: Server[] = [];
  for (let i = 0; i < options.replicas; i += 1) {
    const server = await Server.start({
      ...(servers[0] ? { token: servers[0].token } : {}),
      env: { ...hastyLiveness, DATABASE_URL: cluster.url, MUSTER_CLAIM_SECONDS: '3' },
    });
    servers.push(server);
    undo.defer(() => server.dispose());
  }
  const members: SoakMember[] = [];
  const journals: string[] = [];
  for (let i = 0; i < options.workers; i += 1) {
    const server = servers[i % servers.length] as Server;
    const journal = path.join(home, `w-${i}.jsonl`);
    journals.push(journal);
    const member = await SoakMember.start(() => server.port, {
      token: server.token,
      name: `w-${i}`,
      capacity,
      journal,
    });
    members.push(member);
    undo.defer(() => member.close());
  }
  await allConnected(servers, members);
  const tails = servers.map((server) => new LiveTail(server));
  for (const tail of tails) undo.defer(() => tail.close());

  say(`${servers.length} servers, ${members.length} workers, ${options.executions} executions, seed ${options.seed}`);
  const peace = new AbortController();
  const done = new AbortController();
  undo.defer(() => {
    peace.abort();
    done.abort();
  });
  const kills: number[] = [];
  const nextServer = async (): Promise<Server> => {
    const server = await leaderAmong(servers);
    kills.push(await now(db));
    return server;
  };
  const disturbed = disturb(members, nextServer, {
    chance: new Chance(options.seed),
    signal: peace.signal,
    pauseSeconds: [4, 14],
    outageSeconds: [1, 12],
    serverSeconds: options.serverSeconds,
  });
  const resumed = resumePaused(servers, done.signal);
  const progress = setInterval(() => void counts(db).then(say), 10_000);
  undo.defer(() => clearInterval(progress));
  const submitted = submitAll({
    servers,
    executions: options.executions,
    rate: options.executions / (options.seconds * 0.9),
    ms: 20,
  });
  await delay(options.seconds * 1000);
  const accepted: Accepted[] = await submitted;
  peace.abort();
  const blows = await disturbed;
  say(`all submitted; now in peace: ${JSON.stringify(blows)}`);
  await until(
    () => `everything ends; workers say: ${members.map((member) => member.output).join('\n')}`,
    async () => {
      const { rows } = await db.query<{ n: number }>(
        'SELECT count(*)::int AS n FROM execution WHERE finished_state IS NULL',
      );
      return rows[0]?.n === 0;
    },
    180,
  );
  done.abort();
  await resumed;
  const broken = await findBroken(db, accepted, journals);
  return {
    accepted: accepted.length,
    blows,
    broken: { ...broken, ...(await atRest(servers, tails, 15)) },
    stalls: await stallsAfter(db, kills),
  };
}

async function allConnected(servers: readonly Server[], members: readonly SoakMember[]): Promise<void> {
  for (const server of servers)
    await until(
      () => `all workers are eligible; they say: ${members.map((member) => member.output).join('\n')}`,
      async () => {
        const { workers } = await ask<{ workers: { nodes: { name: string; eligible: boolean }[] } }>(
          server,
          '{ workers(first: 200) { nodes { name eligible } } }',
        );
        const eligible = new Set(workers.nodes.filter((node) => node.eligible).map((node) => node.name));
        return members.every((member) => eligible.has(member.name));
      },
      60,
    );
}

/** The server that says last that it dispatches. */
async function leaderAmong(servers: readonly Server[]): Promise<Server> {
  const [first] = servers as [Server];
  if (servers.length === 1) return first;
  return until('some server dispatches', () => servers.find((server) => dispatches(server)), 30);
}

function dispatches({ outputSinceStart }: Server): boolean {
  return outputSinceStart.lastIndexOf('dispatching now') > outputSinceStart.lastIndexOf('not dispatching any more');
}

async function now(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ now: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 AS now');
  return rows[0]?.now ?? 0;
}

/** Seconds from each kill to the first assignment that was made after it by another leader or the same one come back. */
async function stallsAfter(db: pg.Client, kills: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ stall: number | null }>(
    `SELECT (SELECT min(extract(epoch FROM d.at)) - k.at FROM (
        SELECT scheduled_at AS at FROM execution UNION ALL SELECT scheduled_at FROM attempt
      ) d WHERE extract(epoch FROM d.at) > k.at + 0.05)::float8 AS stall
     FROM unnest($1::float8[]) AS k (at)`,
    [kills],
  );
  return rows.map(({ stall }) => (stall === null ? 0 : Math.round(stall * 100) / 100));
}

async function counts(db: pg.Client): Promise<string> {
  const { rows } = await db.query<{ state: string; n: number }>(
    'SELECT state, count(*)::int AS n FROM execution GROUP BY state ORDER BY state',
  );
  return rows.map(({ state, n }) => `${state} ${n}`).join(', ');
}
