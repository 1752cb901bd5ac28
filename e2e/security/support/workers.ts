import { createClient, type Client } from 'graphql-ws';
import WebSocket from 'ws';
import type { Server } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { type Answer, Caller, type Data } from './calls.ts';
import { administrator } from './people.ts';

const CREATE =
  'mutation ($input: CreateJoinTokenInput!) { createJoinToken(input: $input) { secret joinToken { id } } }';
const JOIN = 'mutation ($input: WorkerJoinInput!) { workerJoin(input: $input) { credential worker role services } }';

export const REGISTER =
  'mutation ($input: WorkerRegisterInput!) { workerRegister(input: $input) { worker { name labels { key value } } } }';
export const HEARTBEAT = 'mutation ($input: WorkerHeartbeatInput!) { workerHeartbeat(input: $input) { lost } }';
export const LEAVE = 'mutation ($input: WorkerLeaveInput!) { workerLeave(input: $input) { released } }';
export const REPORT = `mutation ($input: WorkerReportInput!) {
  workerReport(input: $input) { claims { code claim { token input } } events { code } ends { code } releases { code } }
}`;
export const STEPS = `query ($worker: String!, $instanceId: ID!, $id: ID!, $generation: Int!) {
  workerSteps(worker: $worker, instanceId: $instanceId, id: $id, generation: $generation, after: -1) { after }
}`;
export const INBOX = `subscription ($worker: String!, $instanceId: ID!) {
  workerInbox(worker: $worker, instanceId: $instanceId) { assignments { id generation } }
}`;

export async function joinToken(
  server: Server,
  input: Record<string, unknown> = {},
): Promise<{ secret: string; id: string }> {
  const { createJoinToken } = await administrator(server).ask(CREATE, { input });
  return { secret: createJoinToken.secret, id: createJoinToken.joinToken.id };
}

/** As a worker does: without Authorization. */
export function join(server: Server, secret: string, name?: string, role?: string): Promise<Answer> {
  return new Caller(server, null).post(JOIN, { input: { secret, name, role } });
}

export function registration(name: string, more: Record<string, unknown> = {}): { input: Record<string, unknown> } {
  return {
    input: {
      name,
      instanceId: `${name}-1`,
      role: 'worker',
      hostname: 'host',
      version: '1.0.0',
      startedAt: new Date().toISOString(),
      ...more,
    },
  };
}

/** How a worker names itself in every message. */
export const me = (worker: string, instanceId = `${worker}-1`) => ({ worker, instanceId });

/** A worker with a credential of its own. */
export async function joined(server: Server, name: string, bound: Record<string, unknown> = {}): Promise<Caller> {
  const { secret } = await joinToken(server, { worker: name, role: 'worker', ...bound });
  const { data, text } = await join(server, secret);
  if (data?.workerJoin == null) throw new Error(text);
  return new Caller(server, data.workerJoin.credential);
}

/** A socket with this credential; `closed` is its close code. */
export function socketOf(server: Server, token: string | null): { client: Client; closed: Promise<number> } {
  let tell: (code: number) => void = () => undefined;
  const closed = new Promise<number>((resolve) => (tell = resolve));
  const client = createClient({
    url: `${server.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    lazy: false,
    ...(token === null ? {} : { connectionParams: { token } }),
    retryAttempts: 0,
    onNonLazyError: () => undefined,
    on: { closed: (event) => tell((event as { code: number }).code) },
  });
  return { client, closed };
}

export interface WorkerOnDuty {
  readonly name: string;
  readonly caller: Caller;
  readonly closed: Promise<number>;
  /** Waits until this execution is assigned to it, and claims it. */
  claim(id: string): Promise<{ generation: number; token: string; input: Data }>;
  hangUp(): void;
}

/** Registered, listening and healthy, and driven by hand. */
export async function onDuty(server: Server, name: string, bound: Record<string, unknown> = {}): Promise<WorkerOnDuty> {
  const caller = await joined(server, name, bound);
  await caller.ask(REGISTER, registration(name));
  const { client, closed } = socketOf(server, caller.token);
  const assigned = new Map<string, number>();
  const stop = client.subscribe<{ workerInbox: { assignments: { id: string; generation: number }[] } }>(
    { query: INBOX, variables: me(name) },
    {
      next: ({ data }) => data?.workerInbox.assignments.forEach(({ id, generation }) => assigned.set(id, generation)),
      error: () => undefined,
      complete: () => undefined,
    },
  );
  await until(`${name} is eligible`, async () => {
    await caller.ask(HEARTBEAT, { input: { ...me(name), healthy: true } });
    const { worker } = await administrator(server).ask('query ($name: String!) { worker(name: $name) { eligible } }', {
      name,
    });
    return worker?.eligible;
  });
  return {
    name,
    caller,
    closed,
    async claim(id) {
      const generation = await until(`${id} is assigned to ${name}`, () => assigned.get(id));
      const { workerReport } = await caller.ask(REPORT, { input: { ...me(name), claims: [{ id, generation }] } });
      return { generation, ...workerReport.claims[0].claim };
    },
    hangUp() {
      stop();
      void client.dispose();
    },
  };
}

/** Starts the workflow on one worker. @returns the id of the execution */
export async function runOn(caller: Caller, worker: string, workflow = 'default/job'): Promise<string> {
  const { runWorkflow } = await caller.ask(
    'mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }',
    { input: { workflow, requiredWorker: worker } },
  );
  return runWorkflow.execution.id;
}

export async function registerJob(server: Server, namespace = 'default'): Promise<void> {
  await administrator(server).ask(
    'mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }',
    { input: { namespace, name: 'job' } },
  );
}
