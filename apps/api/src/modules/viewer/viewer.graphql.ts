import { builder } from '../../graphql/builder.ts';
import type { Viewer } from './viewer.ts';

const ViewerType = builder.objectRef<Viewer>('Viewer').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    roles: t.stringList({ resolve: (viewer) => [...viewer.roles] }),
    permissions: t.stringList({ resolve: (viewer) => [...viewer.permissions] }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({ authScopes: { known: true }, type: ViewerType, resolve: (_root, _args, context) => context.viewer }),
);
