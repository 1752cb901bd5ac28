import type { ExecutionEventsSubscription } from '@muster/client';
import { paintState, type Style } from './style.ts';
import { renderText } from './table.ts';

export type ExecutionEvent = ExecutionEventsSubscription['executionEvents'];

/** One event on a line: when, what, who, and what it says. */
export function eventText({ at, type, worker, data }: ExecutionEvent, style: Style): string {
  const parts = [style.dim(at), paintState(type, style)];
  if (worker !== null) parts.push(worker);
  if (data !== null && data !== undefined) parts.push(typeof data === 'string' ? data : JSON.stringify(data));
  return renderText(parts.join('  '), style);
}
