import { Button, PasswordInput } from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import { signIn } from '../api/session.ts';
import { Brand } from './brand.tsx';

/** Shown when the API does not know this browser. */
export function SignIn({ problem, onSignedIn }: { problem: string | null; onSignedIn: () => void }) {
  const [token, setToken] = useState('');
  const [error, setError] = useState(problem);
  const [pending, setPending] = useState(false);
  useEffect(() => {
    document.title = 'Sign in · Muster';
  }, []);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (token.trim() === '') return setError('Paste a token.');
    setPending(true);
    const failed = await signIn({ token: token.trim() });
    setPending(false);
    if (failed === null) onSignedIn();
    else setError(failed);
  };
  return (
    <main className="signin">
      <form onSubmit={(event) => void submit(event)}>
        <Brand />
        <div>
          <h1>Sign in</h1>
          <p className="mute">Open the link that the server printed when it started, or paste a token.</p>
        </div>
        <PasswordInput
          label="Token"
          description="MUSTER_ADMIN_TOKEN, or the one kept in the server's data directory"
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
          error={error}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ 'aria-label': 'Show the token' }}
        />
        <Button type="submit" variant="filled" loading={pending}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
