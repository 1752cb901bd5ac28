import '@fontsource-variable/geist/index.css';
import '@fontsource-variable/geist-mono/index.css';
import '@mantine/core/styles.css';
import './tokens.css';
import './styles/base.css';
import './styles/mantine.css';
import './styles/shell.css';
import './styles/blocks.css';
import './styles/table.css';
import './styles/overview.css';
import './styles/deployment.css';
import './styles/execution.css';
import './styles/decision.css';
import './styles/access.css';
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { disconnect } from './api/live.ts';
import { queryClient } from './api/query-client.ts';
import { signInFromAddress, useSession } from './api/session.ts';
import { router } from './routes.tsx';
import { SignIn } from './shell/sign-in.tsx';
import { theme } from './theme.ts';
import { ToastRegion } from './ui/toast.tsx';

/** The style sheets that the components write need what the policy of this page says. */
const nonce = document.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? '';
// The one that holds the page still behind a dialog asks for it under this name.
Object.assign(globalThis, { __webpack_nonce__: nonce });

// The same key is read by public/scheme.js before the first paint.
const schemeManager = localStorageColorSchemeManager({ key: 'muster-scheme' });

function App({ problem }: { problem: string | null }) {
  const session = useSession();
  useEffect(() => {
    if (session === 'out') disconnect();
  }, [session]);
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={schemeManager}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        {session === 'out' ? (
          <SignIn problem={problem} onSignedIn={() => queryClient.clear()} />
        ) : (
          <RouterProvider router={router} />
        )}
        <ToastRegion />
      </QueryClientProvider>
    </MantineProvider>
  );
}

const root = document.getElementById('root');
if (root) {
  void signInFromAddress().then((problem) => {
    createRoot(root).render(
      <StrictMode>
        <App problem={problem} />
      </StrictMode>,
    );
  });
}
