import type { GraphQLSchema } from 'graphql';
import './scalars.ts';
import './node.graphql.ts';
import '../modules/viewer/viewer.graphql.ts';
import '../modules/access/principal.graphql.ts';
import '../modules/access/access-role.graphql.ts';
import '../modules/access/api-token.graphql.ts';
import '../modules/access/login-session.graphql.ts';
import '../modules/worker/worker.graphql.ts';
import '../modules/worker/operate.graphql.ts';
import '../modules/worker/worker-protocol.graphql.ts';
import '../modules/join-token/join-token.graphql.ts';
import '../modules/join-token/worker-credential.graphql.ts';
import '../modules/workflow/workflow.graphql.ts';
import '../modules/deployment/deployment.graphql.ts';
import '../modules/deployment/deployment-write.graphql.ts';
import '../modules/execution/execution.graphql.ts';
import '../modules/execution/execution-step.graphql.ts';
import '../modules/execution/run.graphql.ts';
import '../modules/schedule/schedule.graphql.ts';
import '../modules/schedule/schedule-write.graphql.ts';
import '../modules/decision/decision.graphql.ts';
import '../modules/policy/policy.graphql.ts';
import '../modules/metrics/metrics.graphql.ts';
import '../modules/audit/audit.graphql.ts';
import '../live/live.graphql.ts';
import { builder } from './builder.ts';

/** The whole schema; every module above adds its types to the builder when it is loaded. */
export function buildSchema(): GraphQLSchema {
  return builder.toSchema();
}
