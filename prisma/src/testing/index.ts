export { explain, explainGeneric, type Plan, type PlanNode } from './explain.ts';
export { type Filled, fillExecutions, fillSteps, millionExecutions } from './fill-executions.ts';
export { type PostgresCluster, startPostgresCluster } from './postgres-cluster.ts';
export {
  createTestDatabase,
  type TestDatabase,
  type TestDatabaseKind,
  testDatabase,
  testDatabaseKind,
} from './test-database.ts';
