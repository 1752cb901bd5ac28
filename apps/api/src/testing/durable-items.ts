import type { JsonValue } from '@muster/core';
import type { CallReport, StepReport } from '../modules/worker/durable-reports.ts';

/** What a worker reports of an execution of `test/durable`, for tests. */
export interface Held {
  id: string;
  generation: number;
}

export const step = (held: Held, position: number, more: Partial<StepReport> = {}): StepReport => ({
  id: held.id,
  generation: held.generation,
  position,
  kind: 'TASK',
  name: 'charge',
  done: true,
  result: undefined,
  error: null,
  order: null,
  delayMs: null,
  ...more,
});
export const pause = (held: Held, position: number, name = 'approval') =>
  step(held, position, { kind: 'RESUME', name, done: false });
export const timer = (held: Held, position: number, delayMs: number) =>
  step(held, position, { kind: 'TIMER', name: 'sleep', done: false, delayMs });
export const call = (held: Held, position: number, more: Partial<CallReport> = {}): CallReport => ({
  id: held.id,
  generation: held.generation,
  position,
  workflow: 'test/durable',
  version: null,
  name: 'test/durable',
  input: { n: 1 },
  routingInput: undefined,
  priority: null,
  ...more,
});
export const suspend = (held: Held, ...positions: number[]) => ({ ...held, positions });
export const completed = (held: Held, output: JsonValue = 'done') => ({
  ...held,
  state: 'COMPLETED' as const,
  output,
  error: null,
});
export const codes = (items: readonly { code: string | null }[]) => items.map((item) => item.code);
