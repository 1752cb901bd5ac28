import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import { CrashPage, NotFoundPage } from './shell/error-pages.tsx';
import { Shell } from './shell/shell.tsx';
import { FollowProvider } from './ui/anchor.tsx';
import { queryString } from './url-state.ts';

const rootRoute = createRootRoute({
  component: () => (
    <FollowProvider value={(href) => router.history.push(href)}>
      <Shell>
        <Outlet />
      </Shell>
    </FollowProvider>
  ),
});

// The index of the app: one line per page, each in a chunk of its own.
const routeTree = rootRoute.addChildren([
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/',
    component: lazyRouteComponent(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/workers',
    component: lazyRouteComponent(() => import('./pages/workers/workers-page.tsx'), 'WorkersPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/workers/$name',
    component: lazyRouteComponent(() => import('./pages/workers/worker-page.tsx'), 'WorkerPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/deployments',
    component: lazyRouteComponent(() => import('./pages/deployments/deployments-page.tsx'), 'DeploymentsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/deployments/new',
    component: lazyRouteComponent(() => import('./pages/deployments/deployment-new-page.tsx'), 'DeploymentNewPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/deployments/$slug',
    component: lazyRouteComponent(() => import('./pages/deployments/deployment-page.tsx'), 'DeploymentPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/executions',
    component: lazyRouteComponent(() => import('./pages/executions/executions-page.tsx'), 'ExecutionsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/executions/new',
    component: lazyRouteComponent(() => import('./pages/executions/execution-new-page.tsx'), 'ExecutionNewPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/executions/$id',
    component: lazyRouteComponent(() => import('./pages/executions/execution-page.tsx'), 'ExecutionPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/decisions/$id',
    component: lazyRouteComponent(() => import('./pages/decisions/decision-page.tsx'), 'DecisionPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/workflows',
    component: lazyRouteComponent(() => import('./pages/workflows/workflows-page.tsx'), 'WorkflowsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/workflows/$namespace/$name',
    component: lazyRouteComponent(() => import('./pages/workflows/workflow-page.tsx'), 'WorkflowPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/access',
    component: lazyRouteComponent(() => import('./pages/access/principals-page.tsx'), 'PrincipalsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/access/principals',
    component: lazyRouteComponent(() => import('./pages/access/principals-page.tsx'), 'PrincipalsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/access/roles',
    component: lazyRouteComponent(() => import('./pages/access/roles-page.tsx'), 'RolesPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/access/tokens',
    component: lazyRouteComponent(() => import('./pages/access/tokens-page.tsx'), 'TokensPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/access/join-tokens',
    component: lazyRouteComponent(() => import('./pages/access/join-tokens-page.tsx'), 'JoinTokensPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/access/sessions',
    component: lazyRouteComponent(() => import('./pages/access/sessions-page.tsx'), 'SessionsPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/audit',
    component: lazyRouteComponent(() => import('./pages/access/audit-page.tsx'), 'AuditPage'),
  }),
]);

/** Addresses are plain: every search parameter is text, and each view reads its own (see url-state.ts). */
export const router = createRouter({
  routeTree,
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => queryString(search as Record<string, string | undefined>),
  defaultNotFoundComponent: NotFoundPage,
  defaultErrorComponent: CrashPage,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
