import type { ExecutionEventsSubscription } from '@muster/client';
import { paintState, type Style } from './style.ts';
import { renderText } from './table.ts';

export type ExecutionEvent = ExecutionEventsSubscription['executionEvents'];

/** One event on a line: when, what, who, and what it says. */
export function eventText({ at, type, worker, data }: ExecutionEvent, style: Style): string {
  const parts = [style.dim(at), paintState(type, style)];
  if (worker !== null) parts.push(worker);
  if (data !== null && data !== undefined) parts.push(dataText(data));
  return renderText(parts.join('  '), style);
}

/** Errors as their sentence, without the stack, which `execution show --json` has; everything else as it is. */
function dataText(data: unknown): string {
  if (typeof data === 'string') return data;
  if (typeof data === 'object' && data !== null && 'message' in data && 'type' in data) {
    return `${String(data.type)}: ${String(data.message)}`;
  }
  return JSON.stringify(data);
}
