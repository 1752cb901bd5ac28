import { expect, test } from 'vitest';
import type { TimelineEvent } from './execution-queries.ts';
import { eventLook, withParkings } from './timeline-words.ts';

const event = (sequence: number, type: string, at: string): TimelineEvent => ({
  id: `ev_${sequence}`,
  sequence,
  type,
  at,
  worker: null,
  data: null,
});

test('a parking stands where it happened, with its reason; other decisions are no line of their own', () => {
  const events = [
    event(2, 'SCHEDULED', '2026-01-01T10:00:09.000Z'),
    event(1, 'CREATED', '2026-01-01T10:00:00.000Z'),
    // In the same millisecond, but later.
    event(3, 'CLAIMED', '2026-01-01T10:00:09.000Z'),
  ];
  const lines = withParkings(events, [
    { id: 'de_2', at: '2026-01-01T10:00:09.000Z', outcome: 'ASSIGNED', reason: null },
    { id: 'de_1', at: '2026-01-01T10:00:01.000Z', outcome: 'PARKED', reason: '0 of 2 workers eligible' },
  ]);
  expect(lines.map((line) => line.type)).toEqual(['CREATED', 'PARKED', 'SCHEDULED', 'CLAIMED']);
  const parked = lines[1];
  expect(parked && eventLook(parked)).toMatchObject({
    title: 'Parked',
    detail: '0 of 2 workers eligible',
    tone: 'warn',
  });
});
