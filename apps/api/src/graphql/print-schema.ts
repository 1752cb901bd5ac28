import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { printSchema } from 'graphql';
import { buildSchema } from './schema.ts';

/** Run it to write `apps/api/schema.graphql`, which clients generate their types from. */
writeFileSync(fileURLToPath(new URL('../../schema.graphql', import.meta.url)), `${printSchema(buildSchema())}\n`);
