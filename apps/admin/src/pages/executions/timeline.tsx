import { duration, clock, moment } from '../../format.ts';
import { Panel } from '../../ui/layout.tsx';
import type { ExecutionDetail, TimelineEvent } from './execution-queries.ts';
import { eventLook } from './timeline-words.ts';

/** What happened, in order, with the time between. Trouble is amber and stays in sequence. */
export function Timeline({ execution, events }: { execution: ExecutionDetail; events: readonly TimelineEvent[] }) {
  const last = events.at(-1);
  return (
    <Panel
      title="Timeline"
      aside={<span>{execution.attempts.length === 1 ? '1 attempt' : `${execution.attempts.length} attempts`}</span>}
    >
      {events.length === 0 ? (
        <p className="mute">No event has arrived yet.</p>
      ) : (
        <ol className="tl" aria-label="Timeline of the execution">
          {events.map((event, index) => {
            const look = eventLook(event);
            const Icon = look.icon;
            const before = events[index - 1];
            const running = event === last && execution.state === 'RUNNING' && look.tone === 'plain';
            return (
              <li key={event.id} className={running ? 'ok' : look.tone}>
                <time className="at" dateTime={event.at} title={moment(event.at)}>
                  {clock(event.at, true)}
                </time>
                <span className="nd" aria-hidden>
                  <Icon size={16} stroke={1.9} />
                </span>
                <span className="ev">
                  <b>{look.title}</b> <span>{look.detail}</span>
                </span>
                <span className="df">{before && `+${duration(Date.parse(event.at) - Date.parse(before.at))}`}</span>
              </li>
            );
          })}
        </ol>
      )}
    </Panel>
  );
}
