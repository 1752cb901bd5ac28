export {
  type Database,
  type DatabaseTarget,
  type DedicatedConnection,
  type OpenOptions,
  openDatabase,
  type Query,
  type QueryOptions,
  type Rows,
} from './database.ts';
export { Prisma, PrismaClient } from './generated/client.ts';
export { migrate } from './migrate.ts';
export type { Priority } from './pools.ts';
