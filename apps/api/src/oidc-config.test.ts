import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

const PROVIDER = {
  MUSTER_OIDC_ISSUER: 'https://id.example.org/realms/main',
  MUSTER_OIDC_CLIENT_ID: 'muster',
  MUSTER_OIDC_ROLES_MAP: '{"muster-admins":"admin"}',
};

describe('the configuration of the identity provider', () => {
  it('is absent, or whole', () => {
    expect(readConfig({}).oidc).toBeNull();
    expect(readConfig(PROVIDER).oidc).toEqual({
      issuer: 'https://id.example.org/realms/main',
      clientId: 'muster',
      clientSecret: null,
      scopes: 'openid profile email',
      rolesClaim: 'roles',
      rolesMap: { 'muster-admins': 'admin' },
      nameClaim: 'preferred_username',
    });
  });

  it.each([
    [{ MUSTER_OIDC_CLIENT_ID: '' }, 'go together'],
    [{ MUSTER_OIDC_ISSUER: 'http://id.example.org' }, 'MUSTER_OIDC_ISSUER must be'],
    [{ MUSTER_OIDC_ISSUER: 'https://id.example.org/?a=b' }, 'MUSTER_OIDC_ISSUER must be'],
    [{ MUSTER_OIDC_ROLES_MAP: '' }, 'MUSTER_OIDC_ROLES_MAP must map'],
    [{ MUSTER_OIDC_ROLES_MAP: 'no json' }, 'MUSTER_OIDC_ROLES_MAP must be a JSON object'],
    [{ MUSTER_OIDC_ROLES_MAP: '["admin"]' }, 'MUSTER_OIDC_ROLES_MAP must be a JSON object'],
    [{ MUSTER_OIDC_ROLES_MAP: '{"a":1}' }, 'MUSTER_OIDC_ROLES_MAP'],
    [{ MUSTER_OIDC_SCOPES: 'profile' }, 'MUSTER_OIDC_SCOPES must be'],
    [{ HOST: '0.0.0.0' }, 'MUSTER_PUBLIC_URL must be set'],
  ])('%j is refused', (change, problem) => {
    expect(problemsOf({ ...PROVIDER, ...change })).toEqual([expect.stringContaining(problem)]);
  });

  it('takes http for a provider on this machine', () => {
    for (const issuer of ['http://127.0.0.1:8080', 'http://localhost:8080/realms/x', 'http://[::1]:8080'])
      expect(problemsOf({ ...PROVIDER, MUSTER_OIDC_ISSUER: issuer })).toEqual([]);
  });
});
