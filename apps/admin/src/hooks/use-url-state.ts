import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo } from 'react';
import { showToast } from '../ui/toast.tsx';
import { formatState, parseState, type Shape, type StateOf } from '../url-state.ts';

/**
 * The state of a view, kept in the address. `set` merges; typing replaces the history entry, discrete choices push one.
 * A value that means nothing is dropped and said once.
 */
export function useUrlState<S extends Shape>(
  shape: S,
): [StateOf<S>, (patch: Partial<StateOf<S>>, how?: 'push' | 'replace') => void] {
  const search = useSearch({ strict: false, select: (all): Record<string, string | undefined> => all });
  const navigate = useNavigate();
  const { state, ignored } = useMemo(() => parseState(shape, search), [shape, search]);
  const names = ignored.join(', ');
  useEffect(() => {
    if (names !== '') showToast({ message: `Ignored an unknown value of ${names}` });
  }, [names]);
  const set = useCallback(
    (patch: Partial<StateOf<S>>, how: 'push' | 'replace' = 'push') => {
      void navigate({
        to: '.',
        search: formatState(shape, { ...state, ...patch }) as never,
        replace: how === 'replace',
        resetScroll: false,
      });
    },
    [navigate, shape, state],
  );
  return [state, set];
}

/** Adds or removes one value of a list. */
export function toggled<T>(list: readonly T[], value: T): T[] {
  return list.includes(value) ? list.filter((each) => each !== value) : [...list, value];
}
