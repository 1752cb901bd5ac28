import { auditRoutes } from './audit-routes.ts';
import { executionRoutes } from './execution-routes.ts';
import { openApiDocument } from './openapi.ts';
import type { Route } from './route.ts';
import { runRoutes } from './run-routes.ts';
import { workerRoutes } from './worker-routes.ts';

/** Every route that scripts use. The OpenAPI document and the docs have exactly these. */
export const routes: readonly Route[] = [...runRoutes, ...executionRoutes, ...workerRoutes, ...auditRoutes];

/** The document at /openapi.json, as text. */
export const openApiText = JSON.stringify(openApiDocument(routes));
