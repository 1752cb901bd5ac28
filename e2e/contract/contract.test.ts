import { readFileSync } from 'node:fs';
import { buildClientSchema, buildSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/graphql.ts';
import { Server } from '../support/server.ts';
import { brokenPromises } from './containment.ts';

const contract = buildSchema(readFileSync(new URL('./contract.graphql', import.meta.url), 'utf8'));

let server: Server;
beforeAll(async () => {
  server = await Server.start();
});
afterAll(() => server.dispose());

test('the running server keeps every promise of the contract', async () => {
  const introspected = await ask<IntrospectionQuery & Record<string, unknown>>(server, getIntrospectionQuery());
  expect(brokenPromises(contract, buildClientSchema(introspected))).toEqual([]);
});

test('the committed schema is the one that the server has', async () => {
  const committed = buildSchema(readFileSync(new URL('../../apps/api/schema.graphql', import.meta.url), 'utf8'));
  const introspected = await ask<IntrospectionQuery & Record<string, unknown>>(server, getIntrospectionQuery());
  const running = buildClientSchema(introspected);
  expect(brokenPromises(committed, running)).toEqual([]);
  expect(brokenPromises(running, committed)).toEqual([]);
});
