import { builder } from './builder.ts';

export const CredentialStatus = builder.enumType('CredentialStatus', {
  description: 'Whether a secret opens anything. USED: a join token, which opens once.',
  values: ['ACTIVE', 'EXPIRED', 'REVOKED', 'USED'] as const,
});
