import { builder } from '../../graphql/builder.ts';
import type { AccessRoleRow } from './role-store.ts';

const AccessRole = builder.objectRef<AccessRoleRow>('AccessRole').implement({
  description: 'What somebody may who has it. Roles of workers are something else: RoleHealth.',
  fields: (t) => ({
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    permissions: t.stringList({ resolve: (row) => [...row.permissions] }),
    builtIn: t.exposeBoolean('builtIn', { description: 'true: nobody can change it.' }),
    principalCount: t.int({
      description: 'How many principals have it.',
      resolve: async (row, _args, { loaders }) => (await loaders.principalsWithRole.load(row.name)) ?? 0,
    }),
    revision: t.exposeInt('revision'),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    updatedBy: t.exposeString('updatedBy', { nullable: true }),
  }),
});

const CreateAccessRoleInput = builder.inputType('CreateAccessRoleInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    description: t.string(),
    permissions: t.stringList({ required: true, description: 'E.g. deployment:chat:write; * stands for any part.' }),
  }),
});
const UpdateAccessRoleInput = builder.inputType('UpdateAccessRoleInput', {
  description: 'What is absent stays; null empties the description.',
  fields: (t) => ({
    name: t.string({ required: true }),
    description: t.string(),
    permissions: t.stringList(),
    expectedRevision: t.int({ required: true }),
  }),
});
const DeleteAccessRoleInput = builder.inputType('DeleteAccessRoleInput', {
  fields: (t) => ({ name: t.string({ required: true }) }),
});

const AccessRolePayload = builder.objectRef<{ role: AccessRoleRow }>('AccessRolePayload').implement({
  fields: (t) => ({ role: t.expose('role', { type: AccessRole }) }),
});
const DeleteAccessRolePayload = builder.objectRef<{ name: string }>('DeleteAccessRolePayload').implement({
  fields: (t) => ({ name: t.exposeString('name') }),
});

builder.queryFields((t) => ({
  accessRoles: t.field({
    authScopes: { permission: 'admin:roles:read' },
    type: [AccessRole],
    description: 'The built-in ones first, then by name.',
    resolve: (_root, _args, { services, viewer }) => services.accessRoles.all(viewer),
  }),
  accessRole: t.field({
    authScopes: { permission: 'admin:roles:read' },
    type: AccessRole,
    nullable: true,
    args: { name: t.arg.string({ required: true }) },
    resolve: (_root, { name }, { services, viewer }) => services.accessRoles.byName(name, viewer),
  }),
}));

builder.mutationFields((t) => ({
  createAccessRole: t.field({
    authScopes: { permission: 'admin:roles:write' },
    type: AccessRolePayload,
    description: 'Nobody makes one that may more than he.',
    args: { input: t.arg({ type: CreateAccessRoleInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      role: await services.accessRoles.create(input, viewer, requestId),
    }),
  }),
  updateAccessRole: t.field({
    authScopes: { permission: 'admin:roles:write' },
    type: AccessRolePayload,
    args: { input: t.arg({ type: UpdateAccessRoleInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      role: await services.accessRoles.update(input, viewer, requestId),
    }),
  }),
  deleteAccessRole: t.field({
    authScopes: { permission: 'admin:roles:write' },
    type: DeleteAccessRolePayload,
    description: 'Only where nobody has it.',
    args: { input: t.arg({ type: DeleteAccessRoleInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => {
      await services.accessRoles.delete(input.name, viewer, requestId);
      return { name: input.name };
    },
  }),
}));
