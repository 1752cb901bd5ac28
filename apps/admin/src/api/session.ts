import { useSyncExternalStore } from 'react';
import { loginProblemIn } from './login-problems.ts';

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

export interface LoginMethods {
  readonly password: boolean;
  /** null: no identity provider. */
  readonly oidc: { readonly name: string; readonly path: string } | null;
}

/** Why a login failed: a sentence, and where one has to wait, for how long. */
export interface LoginFailure {
  readonly message: string;
  readonly retryAfterSeconds: number | null;
}

type Secret = { code: string } | { token: string } | { name: string; password: string };

/** How one can log in at this server; where it does not say, by token. */
export async function readLoginMethods(): Promise<LoginMethods> {
  try {
    const response = await fetch('/session', { credentials: 'same-origin' });
    const { methods } = (await response.json()) as { methods: LoginMethods };
    return { password: methods.password, oidc: methods.oidc };
  } catch {
    return { password: false, oidc: null };
  }
}

/** Exchanges what somebody knows for the HttpOnly cookie. null: it is done. */
export async function signIn(secret: Secret): Promise<LoginFailure | null> {
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
    if (response.status === 429) {
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      const retryAfterSeconds = Number.isFinite(seconds) && seconds > 0 ? seconds : 5;
      return { message: 'Too many attempts.', retryAfterSeconds };
    }
    return {
      message: response.status === 401 ? refusalOf(secret) : 'The server could not do this now.',
      retryAfterSeconds: null,
    };
  } catch {
    return { message: 'The server did not answer.', retryAfterSeconds: null };
  }
}

function refusalOf(secret: Secret): string {
  if ('code' in secret)
    return 'This sign-in link was used already or is too old. Paste a token, or print a new link by starting the server again.';
  return 'token' in secret ? 'The server does not know this token.' : 'Name and password do not fit.';
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

/** Takes `#login=<code>` out of the address bar (it must not stay in the history) and signs in with it. Answers what there is to say, or null. */
export async function signInFromAddress(): Promise<string | null> {
  const told = loginProblemIn(location.hash);
  if (told !== null) history.replaceState(null, '', location.pathname + location.search);
  const match = /^#login=(.+)$/.exec(location.hash);
  if (!match?.[1]) {
    change((await isKnown()) ? 'in' : 'out');
    return told;
  }
  history.replaceState(null, '', location.pathname + location.search);
  const problem = await signIn({ code: decodeURIComponent(match[1]) });
  // A used link is no reason to sign out somebody whose cookie still holds: the first query decides.
  if (problem !== null) change((await isKnown()) ? 'in' : 'out');
  return problem?.message ?? null;
}
