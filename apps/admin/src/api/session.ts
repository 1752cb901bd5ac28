import { useSyncExternalStore } from 'react';

type Session = 'unknown' | 'in' | 'out';

let session: Session = 'unknown';
const listeners = new Set<() => void>();

function change(next: Session): void {
  if (session === next) return;
  session = next;
  for (const listener of listeners) listener();
}

/** The API no longer knows this browser; shows the sign-in screen. */
export function signedOut(): void {
  change('out');
}

export function useSession(): Session {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );
}

/** Exchanges a one-time code or a token for the HttpOnly cookie. Resolves to null, or to a sentence that says what was wrong. */
export async function signIn(secret: { code: string } | { token: string }): Promise<string | null> {
  try {
    const response = await fetch('/session', {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(secret),
    });
    if (response.ok) {
      change('in');
      return null;
    }
    if (response.status === 429) return 'Too many attempts. Wait a minute, then try again.';
    return 'code' in secret
      ? 'This sign-in link was used already or is too old. Paste a token, or print a new link by starting the server again.'
      : 'The server does not know this token.';
  } catch {
    return 'The server did not answer.';
  }
}

/** Ends the session on the server and shows the sign-in screen, also where the server did not answer. */
export async function signOut(): Promise<void> {
  await fetch('/session', { method: 'DELETE', credentials: 'same-origin' }).catch(() => null);
  change('out');
}

/** Whether the cookie still holds; asked once, before any page asks for data. A server that does not answer is no reason to sign out. */
async function isKnown(): Promise<boolean> {
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ viewer { name } }' }),
    });
    await response.text();
    return response.status !== 401;
  } catch {
    return true;
  }
}

/** Takes `#login=<code>` out of the address bar (it must not stay in the history) and signs in with it. */
export async function signInFromAddress(): Promise<string | null> {
  const match = /^#login=(.+)$/.exec(location.hash);
  if (!match?.[1]) {
    change((await isKnown()) ? 'in' : 'out');
    return null;
  }
  history.replaceState(null, '', location.pathname + location.search);
  const problem = await signIn({ code: decodeURIComponent(match[1]) });
  // A used link is no reason to sign out somebody whose cookie still holds: the first query decides.
  if (problem !== null) change((await isKnown()) ? 'in' : 'out');
  return problem;
}
