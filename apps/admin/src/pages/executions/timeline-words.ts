import {
  type Icon,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleDot,
  IconCircleMinus,
  IconCircleOff,
  IconCircleXFilled,
  IconMessage,
  IconParkingCircle,
  IconPercentage25,
  IconPercentage50,
  IconPercentage75,
  IconPlayerPauseFilled,
  IconPlayerTrackNextFilled,
  IconPlugConnectedX,
  IconProgress,
  IconShieldX,
  IconSquareCheck,
} from '@tabler/icons-react';
import { isRecord } from '../../api/client.ts';
import type { DecisionOutcome } from '../../api/generated/graphql.ts';
import { clock, duration, percent, shortId } from '../../format.ts';
import { status } from '../../status.ts';
import type { TimelineEvent } from './execution-queries.ts';

export interface EventLook {
  title: string;
  detail: string;
  icon: Icon;
  tone: 'plain' | 'ok' | 'warn' | 'bad';
}

const on = (event: TimelineEvent): string => (event.worker ? ` on ${event.worker}` : '');

const KNOWN: Record<string, (event: TimelineEvent) => Omit<EventLook, 'detail'>> = {
  CREATED: () => ({ title: 'Submitted', icon: IconCircleDashed, tone: 'plain' }),
  PARKED: () => ({ title: 'Parked', icon: IconParkingCircle, tone: 'warn' }),
  UNPARKED: () => ({ title: 'No longer parked', icon: IconCircleDashed, tone: 'plain' }),
  SCHEDULED: (event) => ({ title: `Scheduled${on(event)}`, icon: IconPercentage25, tone: 'plain' }),
  CLAIMED: () => ({ title: 'Claimed', icon: IconPercentage50, tone: 'plain' }),
  STARTED: () => ({ title: 'Running', icon: IconPercentage75, tone: 'plain' }),
  PAUSED: () => ({ title: 'Paused', icon: IconPlayerPauseFilled, tone: 'plain' }),
  RESUMED: () => ({ title: 'Resumed', icon: IconPlayerTrackNextFilled, tone: 'plain' }),
  TASK: () => ({ title: 'Task', icon: IconSquareCheck, tone: 'plain' }),
  log: () => ({ title: 'Log', icon: IconMessage, tone: 'plain' }),
  progress: () => ({ title: 'Progress', icon: IconProgress, tone: 'plain' }),
  CANCEL_REQUESTED: () => ({ title: 'Cancelling', icon: IconCircleMinus, tone: 'plain' }),
  RELEASED: (event) => ({
    title: `Released${event.worker ? ` from ${event.worker}` : ''}`,
    icon: IconPlugConnectedX,
    tone: 'warn',
  }),
  COMPLETED: () => ({ title: 'Completed', icon: IconCircleCheck, tone: 'plain' }),
  FAILED: () => ({ title: 'Failed', icon: IconCircleXFilled, tone: 'bad' }),
  CANCELLED: () => ({ title: 'Cancelled', icon: IconCircleOff, tone: 'plain' }),
  LATE_WRITE_REFUSED: (event) => ({
    title: `Late write refused${event.worker ? ` from ${event.worker}` : ''}`,
    icon: IconShieldX,
    tone: 'warn',
  }),
};

interface Parking {
  id: string;
  at: string;
  outcome: DecisionOutcome;
  reason?: string | null;
}

/**
 * The events in the order in which they happened, with a line for each time that nobody could take it: that is a decision, and
 * no event of the execution.
 */
export function withParkings(events: readonly TimelineEvent[], decisions: readonly Parking[]): TimelineEvent[] {
  const parkings = decisions
    .filter((decision) => decision.outcome === 'PARKED')
    .map(({ id, at, reason }) => ({ id, at, sequence: 0, type: 'PARKED', worker: null, data: reason ?? null }));
  return [...events.toSorted((a, b) => a.sequence - b.sequence), ...parkings].toSorted(
    (a, b) => Date.parse(a.at) - Date.parse(b.at),
  );
}

/** How an event of the timeline reads. A type that this app does not know is shown by its own name. */
export function eventLook(event: TimelineEvent): EventLook {
  const known = KNOWN[event.type];
  const detail = eventDetail(event);
  if (known) return { ...known(event), detail };
  const outcome = /^ATTEMPT_(.+)$/.exec(event.type)?.[1];
  const look = Object.entries(status.attempt).find(([name]) => name === outcome)?.[1];
  if (look) {
    const tone = look.tone === 'warn' || look.tone === 'bad' ? look.tone : 'plain';
    return { title: `${look.word}${event.worker ? `, ${event.worker}` : ''}`, icon: look.icon, tone, detail };
  }
  const words = event.type.replaceAll(/[._]/g, ' ').toLowerCase();
  return { title: words.charAt(0).toUpperCase() + words.slice(1), icon: IconCircleDot, tone: 'plain', detail };
}

/** What a pause waits for, or what ended it. */
function waitDetail(data: Record<string, unknown>): string | null {
  const { kind, name, until, child, by } = data;
  switch (kind) {
    case 'RESUME':
      if (typeof by === 'string') return `by ${by}`;
      return typeof name === 'string' ? `at “${name}”, until it is resumed` : 'until it is resumed';
    case 'TIMER':
      return typeof until === 'string' ? `until ${clock(until)}` : 'its time has come';
    case 'CHILD':
      return typeof child === 'string' ? `until its child ${shortId(child)} has ended` : 'its child has ended';
    default:
      return null;
  }
}

/** How far it is, where a worker says a fraction or something that reads as a line. */
function progressDetail(data: Record<string, unknown>): string {
  const { fraction, value, message } = data;
  const far = typeof fraction === 'number' ? percent(fraction) : value === undefined ? '' : shortJson(value);
  return [far, typeof message === 'string' ? message : ''].filter((part) => part !== '').join(' · ');
}

/** The part of an event's data that reads as a sentence; data of any other form stays in the API. */
function eventDetail({ type, data }: TimelineEvent): string {
  if (typeof data === 'string') return data;
  if (!isRecord(data)) return data == null ? '' : shortJson(data);
  if (type === 'progress') return progressDetail(data);
  const waited = type === 'PAUSED' || type === 'RESUMED' ? waitDetail(data) : null;
  if (waited !== null) return waited;
  const { wrote, afterMs, by } = data;
  if (typeof wrote === 'string' && typeof afterMs === 'number') {
    return `${wrote.toLowerCase()}, ${duration(afterMs)} after its claim was revoked`;
  }
  if (typeof by === 'string') return `by ${by}`;
  for (const key of ['message', 'reason', 'detail', 'text', 'name']) {
    const value = data[key];
    if (typeof value !== 'string') continue;
    const { [key]: _, ...more } = data;
    return type === 'log' && Object.keys(more).length > 0 ? `${value} ${shortJson(more)}` : value;
  }
  return shortJson(data);
}

/** JSON that fits into a line; longer or empty, nothing. */
function shortJson(value: unknown): string {
  const short = JSON.stringify(value);
  return short.length <= 80 && short !== '{}' ? short : '';
}
