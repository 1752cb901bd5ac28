import { builder } from '../../graphql/builder.ts';
import { connectionOf, pageOf } from '../../graphql/connection.ts';
import { CredentialStatus } from '../../graphql/credential-status.ts';
import { encodeId } from '../../graphql/ids.ts';
import { KeyValue, KeyValueInput, keyValues } from '../../graphql/key-value.ts';
import { NodeRef } from '../../graphql/node.ts';
import { JoinTokenConnection, JoinTokenRef } from '../../graphql/refs.ts';
import { joinTokenStatus, type JoinTokenRow } from './join-token-row.ts';

const ORDER = 'join_tokens';
const REGISTERS = 'Workflows that it may register, as namespace:name, with * for any of either.';

JoinTokenRef.implement({
  description: 'Lets one worker in, once. The secret itself is shown when it is made, and never again.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (row) => encodeId('jt', row.id) }),
    prefix: t.exposeString('prefix', { description: 'How the secret begins.' }),
    description: t.exposeString('description', { nullable: true }),
    worker: t.exposeString('worker', {
      nullable: true,
      description: 'The one name that it is for; null: any free one.',
    }),
    role: t.exposeString('role', { nullable: true, description: 'null: any.' }),
    labels: t.field({
      type: [KeyValue],
      description: "All of the worker's labels; empty: those that it says itself.",
      resolve: (row) => keyValues(Object.entries(row.labels)),
    }),
    services: t.stringList({
      description: 'What it is granted to serve: its labels flux.service.<name>.',
      resolve: (row) => [...row.services],
    }),
    registers: t.stringList({ description: REGISTERS, resolve: (row) => [...row.registers] }),
    status: t.field({
      type: CredentialStatus,
      resolve: (row, _args, { services }) => joinTokenStatus(row, services.now()),
    }),
    createdBy: t.exposeString('createdBy'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    usedAt: t.expose('usedAt', { type: 'DateTime', nullable: true }),
    usedBy: t.exposeString('usedBy', { nullable: true, description: 'The worker that it let in.' }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true }),
  }),
});

const JoinTokenFilterInput = builder.inputType('JoinTokenFilter', {
  fields: (t) => ({
    status: t.field({ type: CredentialStatus }),
    worker: t.string({ description: 'Bound to this worker, or used by it.' }),
  }),
});
const CreateJoinTokenInput = builder.inputType('CreateJoinTokenInput', {
  fields: (t) => ({
    description: t.string(),
    ttlSeconds: t.int({ defaultValue: 3_600, description: 'From 10 to 2,592,000 (30 days).' }),
    worker: t.string({ description: 'Absent: any name that no worker has.' }),
    role: t.string({ description: 'Absent: any.' }),
    labels: t.field({
      type: [KeyValueInput],
      defaultValue: [],
      description: "All of the worker's labels; none: those that it says itself.",
    }),
    services: t.stringList({ defaultValue: [] }),
    registers: t.stringList({ defaultValue: [], description: REGISTERS }),
  }),
});
const RevokeJoinTokenInput = builder.inputType('RevokeJoinTokenInput', {
  fields: (t) => ({ id: t.id({ required: true }) }),
});

const CreateJoinTokenPayload = builder
  .objectRef<{ joinToken: JoinTokenRow; secret: string }>('CreateJoinTokenPayload')
  .implement({
    fields: (t) => ({
      joinToken: t.expose('joinToken', { type: JoinTokenRef }),
      secret: t.exposeString('secret', { description: 'Shown this once.' }),
    }),
  });
const RevokeJoinTokenPayload = builder.objectRef<{ joinToken: JoinTokenRow }>('RevokeJoinTokenPayload').implement({
  fields: (t) => ({ joinToken: t.expose('joinToken', { type: JoinTokenRef }) }),
});
const PurgeJoinTokensPayload = builder.objectRef<{ count: number }>('PurgeJoinTokensPayload').implement({
  fields: (t) => ({ count: t.exposeInt('count') }),
});

builder.queryField('joinTokens', (t) =>
  t.field({
    authScopes: { permission: 'admin:tokens:read' },
    type: JoinTokenConnection,
    description: 'Newest first.',
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      filter: t.arg({ type: JoinTokenFilterInput }),
    },
    resolve: async (_root, { filter, ...args }, context) => {
      const { services, viewer } = context;
      const page = pageOf(args, ORDER, ['int'], context);
      const wanted = { status: filter?.status ?? null, worker: filter?.worker ?? null };
      const { items, more } = await services.joinTokens.page(page, wanted, viewer);
      return connectionOf(
        page,
        ORDER,
        items,
        more,
        (row) => [row.id],
        () => services.joinTokens.count(wanted),
      );
    },
  }),
);

builder.mutationFields((t) => ({
  createJoinToken: t.field({
    authScopes: { permission: ['admin:tokens:write', 'worker:{name}:serve'] },
    type: CreateJoinTokenPayload,
    description:
      'Takes worker:{name}:serve too, of any name where it is bound to none, and for what it may register the same permissions.',
    args: { input: t.arg({ type: CreateJoinTokenInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) =>
      services.joinTokens.create(
        {
          ...input,
          ttlSeconds: input.ttlSeconds ?? 3_600,
          labels: input.labels ?? [],
          services: input.services ?? [],
          registers: input.registers ?? [],
        },
        viewer,
        requestId,
      ),
  }),
  revokeJoinToken: t.field({
    authScopes: { permission: 'admin:tokens:write' },
    type: RevokeJoinTokenPayload,
    description: 'One that was used stays used: revoke the credential that it led to.',
    args: { input: t.arg({ type: RevokeJoinTokenInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      joinToken: await services.joinTokens.revoke(input.id, viewer, requestId),
    }),
  }),
  purgeJoinTokens: t.field({
    authScopes: { permission: 'admin:tokens:write' },
    type: PurgeJoinTokensPayload,
    description: 'Forgets those that were used, revoked or have expired.',
    resolve: async (_root, _args, { services, viewer, requestId }) => ({
      count: await services.joinTokens.purge(viewer, requestId),
    }),
  }),
}));
