import { z } from 'zod';
import type { OidcSettings } from './modules/login/oidc/oidc-settings.ts';

const MAX_ROLES = 200;

const claim = z.string().max(256, 'must have at most 256 characters');

/** What the environment says of the identity provider. */
export const OIDC_VARIABLES = {
  MUSTER_OIDC_ISSUER: z
    .string()
    .refine(isIssuer, 'must be an https:// URL without query and fragment; http:// is for a provider on this machine')
    .optional(),
  MUSTER_OIDC_CLIENT_ID: z.string().max(512, 'must have at most 512 characters').optional(),
  MUSTER_OIDC_CLIENT_SECRET: z.string().max(2_048, 'must have at most 2,048 characters').optional(),
  MUSTER_OIDC_SCOPES: z
    .string()
    .refine((text) => text.split(' ').includes('openid'), 'must be scopes separated by spaces, with openid among them')
    .default('openid profile email'),
  MUSTER_OIDC_ROLES_CLAIM: claim.default('roles'),
  MUSTER_OIDC_ROLES_MAP: z
    .string()
    .transform(parsed)
    .pipe(
      z
        .record(z.string(), z.string(), 'must be a JSON object of claim value to role')
        .refine((map) => Object.keys(map).length <= MAX_ROLES, `must have at most ${MAX_ROLES} members`),
    )
    .default({}),
  MUSTER_OIDC_NAME_CLAIM: claim.default('preferred_username'),
};

type OidcEnvironment = z.infer<z.ZodObject<typeof OIDC_VARIABLES>>;

/** null where no provider is named. */
export function readOidc(e: OidcEnvironment): OidcSettings | null {
  if (e.MUSTER_OIDC_ISSUER === undefined || e.MUSTER_OIDC_CLIENT_ID === undefined) return null;
  return {
    issuer: e.MUSTER_OIDC_ISSUER,
    clientId: e.MUSTER_OIDC_CLIENT_ID,
    clientSecret: e.MUSTER_OIDC_CLIENT_SECRET ?? null,
    scopes: e.MUSTER_OIDC_SCOPES,
    rolesClaim: e.MUSTER_OIDC_ROLES_CLAIM,
    rolesMap: e.MUSTER_OIDC_ROLES_MAP,
    nameClaim: e.MUSTER_OIDC_NAME_CLAIM,
  };
}

/** What of it does not go together, each a sentence. */
export function oidcProblems(
  e: OidcEnvironment,
  { oidc, host, publicUrl }: { oidc: OidcSettings | null; host: string; publicUrl: string | null },
): string[] {
  const problems: string[] = [];
  if ((e.MUSTER_OIDC_ISSUER === undefined) !== (e.MUSTER_OIDC_CLIENT_ID === undefined))
    problems.push('MUSTER_OIDC_ISSUER and MUSTER_OIDC_CLIENT_ID go together: set both or neither.');
  if (oidc === null) return problems;
  if (Object.keys(oidc.rolesMap).length === 0) {
    problems.push(
      'MUSTER_OIDC_ROLES_MAP must map at least one value, or nobody can log in through the provider: {"muster-admins":"admin"}.',
    );
  }
  if (publicUrl === null && !isLoopback(host)) {
    problems.push(
      'MUSTER_PUBLIC_URL must be set where MUSTER_OIDC_ISSUER is and HOST is not this machine: the provider sends people back there.',
    );
  }
  return problems;
}

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash, username } = new URL(text);
  if (search !== '' || hash !== '' || username !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** undefined where it is no JSON; the shape is looked at afterwards. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
