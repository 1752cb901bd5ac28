import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, migrate, openDatabase, type Prisma } from '@muster/db';
import { createBus } from '../../bus/create-bus.ts';
import type { Config } from '../../config.ts';
import { rawId } from '../../dispatch/ids.ts';
import { ADMIN_TOKEN_FILE, replaceAdminToken } from './admin-token.ts';
import type { Log } from '../../log.ts';
import { databaseFailure, StartError } from '../../start-error.ts';
import { appendAudit } from '../audit/audit-log.ts';
import { hashOf, newSecret } from './secrets.ts';

export interface AdminReset {
  /** Shown this once, and kept in the data directory. */
  readonly token: string;
  /** Where it is kept. */
  readonly file: string;
  readonly sessions: number;
  readonly apiTokens: number;
}

/**
 * Gives the installation back to whoever has its machine: a new token for `admin`, whose every other way in ends, on every replica. Takes the data
 * directory, or the database of DATABASE_URL; running replicas take the new token at once.
 *
 * @throws StartError, in one sentence, where a running server holds the data directory, or the database cannot be reached.
 */
export async function resetAdmin(config: Config, log: Log): Promise<AdminReset> {
  let database: Database | null = null;
  try {
    if (config.databaseUrl === null && !existsSync(join(config.dataDir, 'database')))
      throw new StartError(
        `There is no installation in ${config.dataDir}: name its data directory, or set DATABASE_URL.`,
      );
    database = await openDatabase(config.databaseUrl ?? { dataDir: config.dataDir }, {
      ...(config.databaseDirectUrl === null ? {} : { directUrl: config.databaseDirectUrl }),
      prepare: config.prepare,
    });
    await migrate(database, config.migrationsDir === null ? {} : { migrationsDir: config.migrationsDir });
    return await reset(database, config, log);
  } catch (error) {
    throw databaseFailure(error);
  } finally {
    await database?.close();
  }
}

async function reset(database: Database, config: Config, log: Log): Promise<AdminReset> {
  const token = newSecret('muster_');
  const file = join(config.dataDir, ADMIN_TOKEN_FILE);
  const kept = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
  const old = [kept, config.adminToken].filter((text) => text !== null);
  const ended = await database.prisma.$transaction(async (tx) => {
    for (const text of old) await endInstallationToken(tx, text);
    await tx.$executeRaw`UPDATE installation_token SET revoked_at = clock_timestamp() WHERE revoked_at IS NULL`;
    await tx.$executeRaw`INSERT INTO installation_token (hash, everywhere) VALUES (${hashOf(token)}, true)`;
    return endEverythingOfAdmin(tx, rawId(database.uuidv7()));
  });
  await replaceAdminToken(config.dataDir, token);
  const bus = await createBus(database, randomUUID(), log);
  bus.publish('access', {});
  await bus.close();
  return { token, file, ...ended };
}

/** Also one that no server has noted yet. */
async function endInstallationToken(tx: Prisma.TransactionClient, token: string): Promise<void> {
  await tx.$executeRaw`INSERT INTO installation_token (hash, revoked_at) VALUES (${hashOf(token)}, clock_timestamp())
    ON CONFLICT (hash) DO UPDATE SET revoked_at = coalesce(installation_token.revoked_at, clock_timestamp())`;
}

async function endEverythingOfAdmin(
  tx: Prisma.TransactionClient,
  auditId: string,
): Promise<{ sessions: number; apiTokens: number }> {
  const [admin] = await tx.$queryRaw<{ id: number }[]>`
    INSERT INTO principal (name, kind, roles, created_by) VALUES ('admin', 'USER', '{admin}', 'muster')
    ON CONFLICT (name) DO UPDATE SET password_hash = NULL, oidc_issuer = NULL, oidc_subject = NULL, disabled_at = NULL,
      roles = CASE WHEN 'admin' = ANY(principal.roles) THEN principal.roles ELSE array_append(principal.roles, 'admin') END,
      revision = principal.revision + 1
    RETURNING id`;
  const principalId = admin?.id ?? 0;
  const { count: sessions } = await tx.loginSession.deleteMany({ where: { principalId } });
  const { count: apiTokens } = await tx.token.updateMany({
    where: { principalId, revokedAt: null },
    data: { revokedAt: new Date() },
  });
  await appendAudit(tx, auditId, {
    author: { name: 'muster admin reset', address: null, requestId: null },
    action: 'principal.reset',
    target: 'principal:admin',
    before: { sessions, tokens: apiTokens },
    after: { sessions: 0, tokens: 0, enabled: true },
  });
  return { sessions, apiTokens };
}
