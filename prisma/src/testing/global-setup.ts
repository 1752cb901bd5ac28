import { POSTGRES_URL_VARIABLE, startTestServer } from './test-database.ts';

/**
 * Vitest's globalSetup for packages that test against PostgreSQL: one server for the whole run. Does nothing where the run was given one already.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[POSTGRES_URL_VARIABLE]) return undefined;
  const server = await startTestServer();
  process.env[POSTGRES_URL_VARIABLE] = server.url;
  return server.stop;
}
