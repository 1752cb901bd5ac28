import { IconPlayerPauseFilled } from '@tabler/icons-react';
import { type LiveView, useLiveView } from '../api/live.ts';
import { age, clock } from '../format.ts';
import { toServerTime } from '../api/server-clock.ts';
import { useServerNow } from '../hooks/use-server-now.ts';

/** Whether what is on the page is happening now. */
export function ConnectionBadge() {
  const view = useLiveView();
  // Ticks once a second, for the seconds of a lost connection.
  const now = useServerNow();
  return <Badge view={view} lostForMs={Math.max(0, now - toServerTime(view.downSince))} />;
}

function Badge({ view, lostForMs }: { view: LiveView; lostForMs: number }) {
  switch (view.status) {
    case 'CONNECTING':
      return (
        <span className="live" role="status">
          <i aria-hidden />
          Connecting…
        </span>
      );
    case 'LIVE':
      return (
        <span className="live ok" role="status">
          <i aria-hidden />
          Live
        </span>
      );
    case 'RECONNECTING':
      return (
        <span className="live warn" role="status">
          <i aria-hidden />
          <span>
            Reconnecting…
            <span className="long"> {age(lostForMs)}</span>
          </span>
        </span>
      );
    case 'STALE':
      return (
        <span className="live bad" role="status">
          <i aria-hidden />
          <span>
            Not updating<span className="long"> · data from {clock(view.downSince)}</span>
          </span>
        </span>
      );
    case 'PAUSED':
      return (
        <span className="live" role="status">
          <IconPlayerPauseFilled size={12} aria-hidden />
          <span>
            Frozen
            <span className="long">
              {' '}
              · {view.held} {view.held === 1 ? 'update' : 'updates'}
            </span>
          </span>
        </span>
      );
  }
}
