import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.ts';

/** Codes where asking again cannot help. */
const FINAL = new Set([
  'BAD_INPUT',
  'POLICY_INVALID',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'TOO_LARGE',
]);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Live subscriptions keep the cache fresh; nothing is read again on a timer or on focus while they run.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < 2 && !(error instanceof ApiError && FINAL.has(error.code)),
      retryDelay: (failures) => 500 * 2 ** failures,
    },
  },
});
