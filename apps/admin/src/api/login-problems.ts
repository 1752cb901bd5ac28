/** What the fragment of an address says of a login through the identity provider that came to nothing. */
const SENTENCES: Readonly<Record<string, string>> = {
  denied: 'The identity provider did not let you in.',
  expired: 'The login took too long, or was begun in another window. Try again.',
  failed:
    'What the identity provider answered does not hold. Try again; if it happens again, tell whoever runs this server.',
  unavailable: 'The identity provider does not answer. Try again in a moment, or log in another way.',
  'no-role': 'The identity provider knows you, but gives you no role here. Ask whoever runs this server for one.',
  'no-name': 'The identity provider does not say a name that can be used here. Tell whoever runs this server.',
  'name-taken': 'Somebody else here has your name already. Tell whoever runs this server.',
  'last-admin':
    'Your role as administrator has ended at the identity provider, and nobody else here has it. Log in with the token of the installation.',
  disabled: 'Your account here is disabled.',
  throttled: 'Too many attempts to log in. Wait a minute, then try again.',
};

/** The sentence for `#login-problem=<code>`, or null for another fragment. */
export function loginProblemIn(hash: string): string | null {
  const code = /^#login-problem=([a-z-]{1,40})$/.exec(hash)?.[1];
  if (code === undefined) return null;
  return (Object.hasOwn(SENTENCES, code) ? SENTENCES[code] : undefined) ?? 'The login came to nothing. Try again.';
}
