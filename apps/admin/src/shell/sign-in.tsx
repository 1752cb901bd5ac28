import { Button, PasswordInput, SegmentedControl, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { type LoginFailure, readLoginMethods, signIn } from '../api/session.ts';
import { Banner } from '../ui/banner.tsx';
import { Brand } from './brand.tsx';

type Way = 'password' | 'token';

/** Shown when the API does not know this browser, at the address that was asked for: a login leads back to it. */
export function SignIn({ problem, onSignedIn }: { problem: string | null; onSignedIn: () => void }) {
  const { data: methods } = useQuery({ queryKey: ['login-methods'], queryFn: readLoginMethods, staleTime: 60_000 });
  const [chosen, choose] = useState<Way | null>(null);
  useEffect(() => {
    document.title = 'Sign in · Muster';
  }, []);
  const way = chosen ?? (methods?.password ? 'password' : 'token');
  return (
    <main className="signin">
      <div className="signin-card">
        <Brand />
        <div>
          <h1>Sign in</h1>
          <p className="mute">Or open the link that the server printed when it started.</p>
        </div>
        {problem !== null && <Banner tone="bad" title={problem} />}
        {methods?.oidc && (
          <>
            <Button
              component="a"
              href={providerAddress(methods.oidc.path)}
              variant="filled"
              className="signin-provider"
            >
              <span>Log in with {methods.oidc.name}</span>
            </Button>
            <p className="signin-or mute">or</p>
          </>
        )}
        {methods?.password && (
          <SegmentedControl
            aria-label="Sign in with"
            fullWidth
            value={way}
            onChange={(value) => choose(value === 'token' ? 'token' : 'password')}
            data={[
              { value: 'password', label: 'Password' },
              { value: 'token', label: 'Token' },
            ]}
          />
        )}
        {methods && <SecretForm key={way} way={way} filled={methods.oidc === null} onSignedIn={onSignedIn} />}
      </div>
    </main>
  );
}

function SecretForm({ way, filled, onSignedIn }: { way: Way; filled: boolean; onSignedIn: () => void }) {
  const [name, setName] = useState('');
  const [secret, setSecret] = useState('');
  const [failure, setFailure] = useState<LoginFailure | null>(null);
  const [pending, setPending] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const [wait, beginWait] = useCountdown();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (pending || wait > 0) return;
    const missing = way === 'token' ? secret.trim() === '' : name.trim() === '' || secret === '';
    if (missing) {
      const message = way === 'token' ? 'Paste a token.' : 'Enter your name and password.';
      return setFailure({ message, retryAfterSeconds: null });
    }
    setPending(true);
    const failed = await signIn(way === 'token' ? { token: secret.trim() } : { name: name.trim(), password: secret });
    setPending(false);
    if (failed === null) return onSignedIn();
    setFailure(failed);
    if (failed.retryAfterSeconds !== null) beginWait(failed.retryAfterSeconds);
    field.current?.select();
  };
  return (
    <form onSubmit={(event) => void submit(event)} aria-label={`Sign in with a ${way}`}>
      {failure !== null && (failure.retryAfterSeconds === null || wait > 0) && (
        <Banner tone={failure.retryAfterSeconds === null ? 'bad' : 'warn'} title={failure.message} />
      )}
      {way === 'password' && (
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
        />
      )}
      <PasswordInput
        ref={field}
        label={way === 'token' ? 'Token' : 'Password'}
        description={way === 'token' ? "Your API token, or the one kept in the server's data directory" : undefined}
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
        autoComplete="current-password"
        visibilityToggleButtonProps={{ 'aria-label': way === 'token' ? 'Show the token' : 'Show the password' }}
      />
      <Button type="submit" variant={filled ? 'filled' : 'default'} loading={pending} disabled={wait > 0}>
        {wait > 0 ? `Try again in ${wait} s` : 'Sign in'}
      </Button>
    </form>
  );
}

/** Whole seconds that are left of a wait, and what begins one. */
function useCountdown(): [number, (seconds: number) => void] {
  const [{ until, now }, set] = useState({ until: 0, now: 0 });
  const isOver = until <= now;
  useEffect(() => {
    if (isOver) return undefined;
    const timer = setInterval(() => set((wait) => ({ ...wait, now: performance.now() })), 250);
    return () => clearInterval(timer);
  }, [isOver]);
  const begin = (seconds: number): void => {
    const at = performance.now();
    set({ until: at + seconds * 1_000, now: at });
  };
  return [isOver ? 0 : Math.ceil((until - now) / 1_000), begin];
}

/** The server takes no other path than one of its own. */
function providerAddress(path: string): string {
  return `${path}?return=${encodeURIComponent(location.pathname + location.search)}`;
}
