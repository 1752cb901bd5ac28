import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/graphql.ts';
import { Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { atRest } from './at-rest.ts';
import { LiveTail } from './live-tail.ts';
import { SoakMember } from './soak-member.ts';

const loads = 'replica 1: loads are zero';
const subscriber = 'replica 1: its subscriber has seen every end';
const whole = { [loads]: [], [subscriber]: [] };
/** Breaches stay as they are however long one looks. */
const shortly = 1;

let home: string;
let server: Server;
let member: SoakMember;

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'muster-at-rest-'));
  server = await Server.start();
  member = await SoakMember.start(() => server.port, {
    token: server.token,
    name: 'w-0',
    capacity: 4,
    journal: path.join(home, 'journal'),
  });
  await until(
    () => `the worker is eligible; it says: ${member.output}`,
    async () => {
      const answer = await ask<{ worker: { eligible: boolean } | null }>(
        server,
        '{ worker(name: "w-0") { eligible } }',
      );
      return answer.worker?.eligible;
    },
    90,
  );
});
afterAll(async () => {
  await member.close();
  await server.dispose();
  rmSync(home, { recursive: true, force: true });
});

/** Submits an execution that runs until it is cancelled. Resolves with its id when it runs. */
async function running(): Promise<string> {
  const { runWorkflow } = await ask<{ runWorkflow: { execution: { id: string } } }>(
    server,
    'mutation { runWorkflow(input: { workflow: "soak/plain", input: { number: 1, ms: 3600000 } }) { execution { id } } }',
  );
  const { id } = runWorkflow.execution;
  await becomes(id, 'RUNNING');
  return id;
}

async function becomes(id: string, state: string): Promise<void> {
  await until(
    `${id} is ${state}`,
    async () => {
      const answer = await ask<{ execution: { state: string } }>(
        server,
        'query ($id: ID!) { execution(id: $id) { state } }',
        { id },
      );
      return answer.execution.state === state;
    },
    60,
  );
}

async function cancel(id: string): Promise<void> {
  await ask(server, 'mutation ($id: ID!) { cancelExecution(input: { id: $id }) { execution { id } } }', { id });
  await becomes(id, 'CANCELLED');
}

test('a subscriber that has seen nothing is found', async () => {
  const tail = new LiveTail(server);
  expect(await atRest([server], [tail], shortly)).toEqual({ ...whole, [subscriber]: ['it has seen nothing'] });
  await tail.close();
});

test('a load that is left is found, and so is what its subscriber takes for unfinished; nothing once that has ended', async () => {
  const tail = new LiveTail(server);
  const id = await running();
  await until('the subscriber is told that it runs', () => tail.open().includes(`${id} RUNNING`), 60);
  expect(await atRest([server], [tail], shortly)).toEqual({ [loads]: ['w-0 1'], [subscriber]: [`${id} RUNNING`] });
  await cancel(id);
  expect(await atRest([server], [tail], 60)).toEqual(whole);
  await tail.close();
});

test('a subscriber that was not told of an end is found, though all is at rest', async () => {
  const [deaf, good] = [new LiveTail(server), new LiveTail(server)];
  const id = await running();
  await until('it is told that it runs', () => deaf.open().includes(`${id} RUNNING`), 60);
  await deaf.close();
  await cancel(id);
  expect(await atRest([server], [good], 60)).toEqual(whole);
  expect(await atRest([server], [deaf], shortly)).toEqual({ ...whole, [subscriber]: [`${id} RUNNING`] });
  await good.close();
});
