import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { freeze, useLiveView } from '../api/live.ts';
import { useFollow } from '../ui/anchor.tsx';
import { SECTIONS } from './nav.tsx';

function inField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** The keys of the whole app. Single letters never fire inside a field or with a modifier. */
export function useShortcuts(open: { palette: () => void; help: () => void }): void {
  const follow = useFollow();
  const client = useQueryClient();
  const { status } = useLiveView();
  const going = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        open.palette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || inField(event.target)) return;
      if (document.querySelector('[role=dialog]')) return;
      if (Date.now() - going.current < 1_000) {
        going.current = 0;
        const section = SECTIONS.find((each) => each.key === event.key);
        if (section) follow(section.href);
        return;
      }
      switch (event.key) {
        case 'g':
          going.current = Date.now();
          return;
        case '?':
          return open.help();
        case '.':
          return freeze(status !== 'PAUSED');
        case 'r':
          void client.invalidateQueries();
          return;
        case '/': {
          const search = document.querySelector<HTMLElement>('main input[type=search]');
          event.preventDefault();
          if (search) search.focus();
          else open.palette();
        }
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [client, follow, open, status]);
}
