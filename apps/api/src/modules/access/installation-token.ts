import type { Executor, Statement } from '../../dispatch/statements/executor.ts';
import { hashOf } from './secrets.ts';

const REGISTER: Statement = {
  name: 'register_installation_token',
  priority: 'read',
  text: `WITH made AS (INSERT INTO installation_token (hash) VALUES ($1) ON CONFLICT (hash) DO NOTHING)
    SELECT 1 FROM installation_token WHERE hash = $1 AND revoked_at IS NOT NULL`,
};

/** Notes the token of the installation, so that a reset can end it. Answers whether one has. */
export async function isRevokedInstallationToken(db: Executor, token: string): Promise<boolean> {
  const { rows } = await db.run(REGISTER, [hashOf(token)]);
  return rows.length > 0;
}
