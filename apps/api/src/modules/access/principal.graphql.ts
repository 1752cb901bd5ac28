import { builder } from '../../graphql/builder.ts';
import { connectionOf, pageOf } from '../../graphql/connection.ts';
import { encodeId } from '../../graphql/ids.ts';
import { NodeRef } from '../../graphql/node.ts';
import { ApiTokenRef, LoginSessionRef, PrincipalConnection, PrincipalRef } from '../../graphql/refs.ts';
import { permissionsOf } from './credential-reads.ts';
import type { PrincipalRow } from './principal-store.ts';

const ORDER = 'principals';

const PrincipalKind = builder.enumType('PrincipalKind', {
  description: 'USER: a person. SERVICE: an account of a program, which has tokens and no password.',
  values: ['USER', 'SERVICE'] as const,
});

PrincipalRef.implement({
  description: 'Who may enter.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (row) => encodeId('pr', row.id) }),
    name: t.exposeString('name'),
    kind: t.expose('kind', { type: PrincipalKind }),
    roles: t.stringList({ resolve: (row) => [...row.roles] }),
    permissions: t.stringList({
      description: 'What its roles let it do.',
      resolve: async (row, _args, { loaders }) => {
        const roles = await loaders.accessRole.loadMany([...row.roles]);
        return permissionsOf(
          row.roles,
          roles.flatMap((role) => (role === null || role instanceof Error ? [] : [...role.permissions])),
        );
      },
    }),
    disabled: t.boolean({ resolve: (row) => row.disabledAt !== null }),
    disabledAt: t.expose('disabledAt', { type: 'DateTime', nullable: true }),
    hasPassword: t.exposeBoolean('hasPassword'),
    externalIdentity: t.string({
      nullable: true,
      description: 'Who it is at an identity provider.',
      resolve: (row) => (row.oidcIssuer === null ? null : `${row.oidcIssuer} ${row.oidcSubject ?? ''}`),
    }),
    createdBy: t.exposeString('createdBy'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    revision: t.exposeInt('revision'),
    tokens: t.field({
      type: [ApiTokenRef],
      description: 'Newest first; none where they may not be read.',
      resolve: async (row, _args, { loaders }) => (await loaders.apiTokensOf.load(row.id)) ?? [],
    }),
    sessions: t.field({
      type: [LoginSessionRef],
      description: 'Newest first.',
      resolve: async (row, _args, { loaders }) => (await loaders.loginSessionsOf.load(row.id)) ?? [],
    }),
  }),
});

const PrincipalFilterInput = builder.inputType('PrincipalFilter', {
  fields: (t) => ({
    search: t.string({ description: 'Part of the name, in whatever case.' }),
    kind: t.field({ type: PrincipalKind }),
    role: t.string(),
    disabled: t.boolean(),
  }),
});
const CreatePrincipalInput = builder.inputType('CreatePrincipalInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    kind: t.field({ type: PrincipalKind, defaultValue: 'USER' }),
    roles: t.stringList({ defaultValue: [] }),
    password: t.string({ description: '12 to 128 characters; for a person alone.' }),
  }),
});
const UpdatePrincipalInput = builder.inputType('UpdatePrincipalInput', {
  description: 'What is absent stays. Disabling ends its sessions; its tokens let nobody in until it is enabled again.',
  fields: (t) => ({
    name: t.string({ required: true }),
    roles: t.stringList(),
    disabled: t.boolean(),
    expectedRevision: t.int({ required: true }),
  }),
});
const DeletePrincipalInput = builder.inputType('DeletePrincipalInput', {
  fields: (t) => ({ name: t.string({ required: true }) }),
});
const SetPasswordInput = builder.inputType('SetPasswordInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    password: t.string({ required: true, description: '12 to 128 characters.' }),
  }),
});
const ChangeOwnPasswordInput = builder.inputType('ChangeOwnPasswordInput', {
  fields: (t) => ({
    current: t.string({ required: true }),
    password: t.string({ required: true, description: '12 to 128 characters.' }),
  }),
});

const PrincipalPayload = builder.objectRef<{ principal: PrincipalRow }>('PrincipalPayload').implement({
  fields: (t) => ({ principal: t.expose('principal', { type: PrincipalRef }) }),
});
const DeletePrincipalPayload = builder.objectRef<{ name: string }>('DeletePrincipalPayload').implement({
  fields: (t) => ({ name: t.exposeString('name') }),
});

builder.queryFields((t) => ({
  principals: t.field({
    authScopes: { permission: 'admin:principals:read' },
    type: PrincipalConnection,
    description: 'By name.',
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      filter: t.arg({ type: PrincipalFilterInput }),
    },
    resolve: async (_root, { filter, ...args }, context) => {
      const { services, viewer } = context;
      const page = pageOf(args, ORDER, ['text'], context);
      const { search = null, kind = null, role = null, disabled = null } = filter ?? {};
      const wanted = { search, kind, role, disabled };
      const { items, more } = await services.principals.page(page, wanted, viewer);
      return connectionOf(
        page,
        ORDER,
        items,
        more,
        (row) => [row.name],
        () => services.principals.count(wanted),
      );
    },
  }),
  principal: t.field({
    authScopes: { reads: 'admin:principals:read' },
    type: PrincipalRef,
    nullable: true,
    args: { name: t.arg.string({ required: true }) },
    resolve: (_root, { name }, { services, viewer }) => services.principals.byName(name, viewer),
  }),
}));

builder.mutationFields((t) => ({
  createPrincipal: t.field({
    authScopes: { permission: 'admin:principals:write' },
    type: PrincipalPayload,
    description: 'Nobody makes one that may more than he.',
    args: { input: t.arg({ type: CreatePrincipalInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      principal: await services.principals.create(
        { ...input, kind: input.kind ?? 'USER', roles: input.roles ?? [] },
        viewer,
        requestId,
      ),
    }),
  }),
  updatePrincipal: t.field({
    authScopes: { permission: 'admin:principals:write' },
    type: PrincipalPayload,
    args: { input: t.arg({ type: UpdatePrincipalInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      principal: await services.principals.update(input, viewer, requestId),
    }),
  }),
  deletePrincipal: t.field({
    authScopes: { permission: 'admin:principals:write' },
    type: DeletePrincipalPayload,
    description: 'With its tokens and sessions.',
    args: { input: t.arg({ type: DeletePrincipalInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => {
      await services.principals.delete(input.name, viewer, requestId);
      return { name: input.name };
    },
  }),
  setPassword: t.field({
    authScopes: { permission: 'admin:principals:write' },
    type: PrincipalPayload,
    description: 'The sessions of that person end.',
    args: { input: t.arg({ type: SetPasswordInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      principal: await services.principals.setPassword(input.name, input.password, viewer, requestId),
    }),
  }),
  changeOwnPassword: t.field({
    authScopes: { signedIn: true },
    type: PrincipalPayload,
    description: "One's other sessions end.",
    args: { input: t.arg({ type: ChangeOwnPasswordInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      principal: await services.principals.changeOwnPassword(input.current, input.password, viewer, requestId),
    }),
  }),
}));
