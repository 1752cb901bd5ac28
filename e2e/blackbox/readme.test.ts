import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/graphql.ts';
import { root, Server } from '../support/server.ts';
import { until } from '../support/until.ts';

const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const examples = [...readme.matchAll(/^```graphql\n(.*?)^```$/gms)].map((match) => match[1] ?? '');

/** Operation type and name, e.g. `query Why`. */
function title(document: string): string {
  const [, operation = '', name = ''] = /^(\w+) (\w+)/.exec(document) ?? [];
  return `${operation} ${name}`;
}

let server: Server;
beforeAll(async () => {
  server = await Server.start({ demo: true });
  await until('the demo is up', async () => {
    const { deployment, workers } = await ask<{
      deployment: object | null;
      workers: { nodes: { eligible: boolean }[] };
    }>(server, '{ deployment(slug: "assistant") { slug } workers { nodes { eligible } } }');
    return deployment && workers.nodes.filter((worker) => worker.eligible).length >= 4;
  });
});
afterAll(() => server.dispose());

/** What the answer of each must look like, in the order of the page. */
const expected = {
  'query OnDuty': {
    roles: expect.arrayContaining([expect.objectContaining({ role: 'gpu-worker', healthy: true })]),
    workers: { nodes: expect.arrayContaining([expect.objectContaining({ role: 'worker' })]) },
  },
  'mutation Run': {
    runDeployment: {
      resolved: { skippedVariants: [expect.objectContaining({ reason: 'ROLES_DEAD' })] },
      execution: { state: 'COMPLETED', workerName: expect.any(String), why: expect.any(String) },
    },
  },
  'query Why': {
    decisions: {
      nodes: [
        expect.objectContaining({
          winner: expect.any(String),
          terms: expect.any(Array),
          candidates: expect.any(Array),
        }),
      ],
    },
  },
  'query WhatIf': {
    previewDispatch: { outcome: 'ASSIGNED', winner: expect.any(String), explanation: expect.any(Array) },
  },
};

test('the README has five GraphQL examples', () => {
  expect(examples.map(title)).toEqual([...Object.keys(expected), 'subscription Roles']);
});

test.for(Object.entries(expected))('%s runs', async ([name, answer]) => {
  const document = examples.find((example) => title(example) === name) ?? '';
  expect(await ask(server, document)).toMatchObject(answer);
});

test('subscription Roles answers as server-sent events', async () => {
  const document = examples.find((example) => title(example).startsWith('subscription')) ?? '';
  const abort = new AbortController();
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    signal: abort.signal,
    headers: {
      authorization: `Bearer ${server.token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: document }),
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (/^data: .*\n/m.test(text)) break;
  }
  abort.abort();
  const first = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '{}');
  expect(first.errors).toBeUndefined();
  expect(first.data.roleHealth).toMatchObject({ kind: 'SNAPSHOT' });
  expect(first.data.roleHealth.roles.map((item: { role: string }) => item.role)).toEqual(
    expect.arrayContaining(['worker', 'gpu-worker']),
  );
});
