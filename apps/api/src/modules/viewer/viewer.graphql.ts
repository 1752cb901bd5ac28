import { builder } from '../../graphql/builder.ts';
import { LoginSessionRef, PrincipalRef } from '../../graphql/refs.ts';
import type { PrincipalRow } from '../access/principal-store.ts';
import type { Services } from '../../services.ts';
import type { Viewer } from './viewer.ts';

const ViewerKind = builder.enumType('ViewerKind', {
  description: 'EXECUTION: the handler of an execution, with the token that it was given.',
  values: {
    PERSON: { value: 'person' },
    SERVICE: { value: 'service' },
    WORKER: { value: 'worker' },
    EXECUTION: { value: 'execution' },
  } as const,
});

const ViewerType = builder.objectRef<Viewer>('Viewer').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    kind: t.expose('kind', { type: ViewerKind }),
    roles: t.stringList({ resolve: (viewer) => [...viewer.roles] }),
    permissions: t.stringList({ resolve: (viewer) => [...viewer.permissions] }),
    principal: t.field({
      type: PrincipalRef,
      nullable: true,
      description: 'null for the token of the installation, a worker and an execution.',
      resolve: (viewer, _args, { services }) => principalOf(viewer, services),
    }),
    session: t.field({
      type: LoginSessionRef,
      nullable: true,
      description: 'null where a token asks.',
      resolve: (viewer, _args, { services }) => services.loginSessions.own(viewer),
    }),
    hasPassword: t.boolean({
      resolve: async (viewer, _args, { services }) => (await principalOf(viewer, services))?.hasPassword ?? false,
    }),
  }),
});

async function principalOf(viewer: Viewer, { principals }: Services): Promise<PrincipalRow | null> {
  const known = viewer.credential.kind === 'token' || viewer.credential.kind === 'session';
  return known ? principals.byName(viewer.name, viewer) : null;
}

builder.queryField('viewer', (t) =>
  t.field({ authScopes: { known: true }, type: ViewerType, resolve: (_root, _args, context) => context.viewer }),
);
