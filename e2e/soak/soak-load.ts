import { setTimeout as delay } from 'node:timers/promises';
import { post } from '../support/graphql.ts';
import type { Server } from '../support/server.ts';
import { shares, type SoakInput } from './soak-settings.ts';

type Flow = keyof typeof shares;

const flows = Object.entries(shares).flatMap(([flow, share]) => Array.from({ length: share }, () => flow as Flow));

/** An execution that the server has accepted. */
export interface Accepted {
  readonly id: string;
  readonly flow: Flow;
  readonly input: SoakInput;
}

export interface LoadOptions {
  readonly servers: readonly Server[];
  readonly executions: number;
  /** A second, in all. */
  readonly rate: number;
  readonly ms: number;
}

const lanes = 8;

/** Submits so many executions, one after the other in each of 8 lanes, again and again under the same key until accepted. */
export async function submitAll({ servers, executions, rate, ms }: LoadOptions): Promise<Accepted[]> {
  const accepted: Accepted[] = [];
  let next = 0;
  const began = performance.now();
  async function lane(): Promise<void> {
    while (next < executions) {
      const number = next;
      next += 1;
      const due = (number / rate) * 1000 - (performance.now() - began);
      if (due > 0) await delay(due);
      const flow = flows[number % flows.length] as Flow;
      const input = { number, ms };
      accepted.push({ id: await submit(servers, number, flow, input), flow, input });
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane));
  return accepted;
}

async function submit(servers: readonly Server[], number: number, flow: Flow, input: SoakInput): Promise<string> {
  for (let attempt = 0; ; attempt += 1) {
    const server = servers[(number + attempt) % servers.length] as Server;
    const answer = await post<{ runWorkflow: { execution: { id: string } } }>(
      server,
      'mutation Run($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }',
      { input: { workflow: `soak/${flow}`, input, idempotencyKey: `soak-${number}` } },
    ).catch(() => null);
    if (answer?.data) return answer.data.runWorkflow.execution.id;
    const code = answer?.errors?.[0]?.extensions?.code;
    if (code !== undefined && code !== 'UNAVAILABLE') throw new Error(JSON.stringify(answer?.errors));
    await delay(100);
  }
}

/** What a paused execution of the soak is resumed with. */
export const resumeAnswer = 42;

/** Resumes whatever waits for it, until the signal fires. */
export async function resumePaused(servers: readonly Server[], signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; round += 1) {
    const server = servers[round % servers.length] as Server;
    await resumeOnce(server).catch(() => undefined);
    await delay(500, undefined, { signal }).catch(() => undefined);
  }
}

async function resumeOnce(server: Server): Promise<void> {
  const { data } = await post<{
    executions: { nodes: { id: string; waitingFor: { kind: string } | null }[] };
  }>(server, '{ executions(filter: { states: [PAUSED] }, first: 100) { nodes { id waitingFor { kind } } } }');
  for (const { id, waitingFor } of data?.executions.nodes ?? []) {
    if (waitingFor?.kind !== 'RESUME') continue;
    await post(
      server,
      'mutation Resume($input: ResumeExecutionInput!) { resumeExecution(input: $input) { execution { state } } }',
      { input: { id, input: resumeAnswer } },
    );
  }
}
