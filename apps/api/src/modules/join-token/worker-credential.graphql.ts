import { builder } from '../../graphql/builder.ts';
import { connectionOf, pageOf } from '../../graphql/connection.ts';
import { CredentialStatus } from '../../graphql/credential-status.ts';
import { encodeId } from '../../graphql/ids.ts';
import { KeyValue, keyValues } from '../../graphql/key-value.ts';
import { NodeRef } from '../../graphql/node.ts';
import { WorkerCredentialConnection, WorkerCredentialRef } from '../../graphql/refs.ts';
import { credentialStatus, type WorkerCredentialRow } from './join-token-row.ts';
import type { GivenCredential } from './worker-credential-service.ts';

const ORDER = 'worker_credentials';

WorkerCredentialRef.implement({
  description:
    'By what a worker is known. Good for the registration, heartbeats, claims and events of that worker alone.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (row) => encodeId('wc', row.id) }),
    prefix: t.exposeString('prefix', { description: 'How the secret begins.' }),
    worker: t.exposeString('worker'),
    role: t.exposeString('role', { nullable: true }),
    labels: t.field({ type: [KeyValue], resolve: (row) => keyValues(Object.entries(row.labels)) }),
    services: t.stringList({ resolve: (row) => [...row.services] }),
    registers: t.stringList({ resolve: (row) => [...row.registers] }),
    status: t.field({
      type: CredentialStatus,
      resolve: (row, _args, { services }) => credentialStatus(row, services.now()),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true, description: 'To the minute.' }),
    replacedAt: t.expose('replacedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was renewed: from then on it is good for a short time.',
    }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true }),
  }),
});

const WorkerCredentialFilterInput = builder.inputType('WorkerCredentialFilter', {
  fields: (t) => ({ worker: t.string(), status: t.field({ type: CredentialStatus }) }),
});
const RevokeWorkerCredentialInput = builder.inputType('RevokeWorkerCredentialInput', {
  fields: (t) => ({ id: t.id({ required: true }) }),
});
const WorkerJoinInput = builder.inputType('WorkerJoinInput', {
  fields: (t) => ({
    secret: t.string({ required: true, description: 'Of the join token.' }),
    name: t.string({ description: 'Absent: the one that the token is bound to.' }),
    role: t.string({ description: 'Absent: the one that the token is bound to.' }),
  }),
});

const RevokeWorkerCredentialPayload = builder
  .objectRef<{ workerCredential: WorkerCredentialRow }>('RevokeWorkerCredentialPayload')
  .implement({
    fields: (t) => ({ workerCredential: t.expose('workerCredential', { type: WorkerCredentialRef }) }),
  });
const WorkerJoinPayload = builder.objectRef<GivenCredential>('WorkerJoinPayload').implement({
  fields: (t) => ({
    credential: t.exposeString('credential', { description: 'Send it as Authorization: Bearer. Shown this once.' }),
    worker: t.string({ resolve: ({ row }) => row.worker }),
    role: t.string({ resolve: ({ row }) => row.role }),
    services: t.stringList({ resolve: ({ row }) => [...row.services] }),
    expiresAt: t.field({ type: 'DateTime', resolve: ({ row }) => row.expiresAt }),
    renewAfterSeconds: t.exposeInt('renewAfterSeconds', { description: 'Ask for a new one then.' }),
  }),
});
const WorkerRenewCredentialPayload = builder.objectRef<GivenCredential>('WorkerRenewCredentialPayload').implement({
  fields: (t) => ({
    credential: t.exposeString('credential', { description: 'The one before it is good for a short time still.' }),
    expiresAt: t.field({ type: 'DateTime', resolve: ({ row }) => row.expiresAt }),
    renewAfterSeconds: t.exposeInt('renewAfterSeconds'),
  }),
});

builder.queryField('workerCredentials', (t) =>
  t.field({
    authScopes: { permission: 'admin:tokens:read' },
    type: WorkerCredentialConnection,
    description: 'Newest first.',
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      filter: t.arg({ type: WorkerCredentialFilterInput }),
    },
    resolve: async (_root, { filter, ...args }, context) => {
      const { services, viewer } = context;
      const page = pageOf(args, ORDER, ['int'], context);
      const wanted = { worker: filter?.worker ?? null, status: filter?.status ?? null };
      const { items, more } = await services.workerCredentials.page(page, wanted, viewer);
      return connectionOf(
        page,
        ORDER,
        items,
        more,
        (row) => [row.id],
        () => services.workerCredentials.count(wanted),
      );
    },
  }),
);

builder.mutationFields((t) => ({
  revokeWorkerCredential: t.field({
    authScopes: { permission: 'admin:tokens:write' },
    type: RevokeWorkerCredentialPayload,
    description:
      'Bans the worker: all its credentials end, its connections within a second, and what it holds is given to others. It comes back only with a join token made later.',
    args: { input: t.arg({ type: RevokeWorkerCredentialInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      workerCredential: await services.workerCredentials.revoke(input.id, viewer, requestId),
    }),
  }),
  workerJoin: t.field({
    authScopes: { anybody: true },
    type: WorkerJoinPayload,
    description: 'Exchanges a join token for the credential of one worker. Takes no Authorization.',
    args: { input: t.arg({ type: WorkerJoinInput, required: true }) },
    resolve: (_root, { input }, { services, address, requestId }) =>
      services.workerCredentials.join({
        joinToken: input.secret,
        name: input.name ?? null,
        role: input.role ?? null,
        address,
        requestId,
      }),
  }),
  workerRenewCredential: t.field({
    authScopes: { worker: true },
    type: WorkerRenewCredentialPayload,
    description: 'A new credential for the worker whose own one is sent; half-way through its life is the time for it.',
    resolve: (_root, _args, { services, viewer, requestId }) => services.workerCredentials.renew(viewer, requestId),
  }),
}));
