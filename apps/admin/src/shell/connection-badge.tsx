import { IconPlayerPauseFilled } from '@tabler/icons-react';
import { type LiveView, useLiveView } from '../api/live.ts';
import { clock, duration } from '../format.ts';
import { useServerNow } from '../hooks/use-server-now.ts';

/** Whether what is on the page is happening now. */
export function ConnectionBadge() {
  const view = useLiveView();
  // Ticks once a second, for the seconds of a lost connection.
  useServerNow();
  return <Badge view={view} />;
}

function Badge({ view }: { view: LiveView }) {
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
            <span className="long"> {duration(Math.floor((Date.now() - view.downSince) / 1000) * 1000)}</span>
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
