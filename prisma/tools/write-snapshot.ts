import { writeFileSync } from 'node:fs';
import { describeSchema } from '../src/testing/schema-snapshot.ts';
import { testDatabase } from '../src/testing/test-database.ts';

/** Writes prisma/schema.snapshot.sql from a freshly migrated PostgreSQL: run it after a new migration, and read the difference. */
const database = await testDatabase('postgres');
writeFileSync(new URL('../schema.snapshot.sql', import.meta.url), await describeSchema(database));
await database.drop();
