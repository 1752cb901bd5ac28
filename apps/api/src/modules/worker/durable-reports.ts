import type { JsonValue } from '@muster/core';
import type { StepKind } from './recorded-steps.ts';
import type { EndError, ItemResult } from './report-service.ts';
import type { HeldItem } from './report-store.ts';

/** A step as a worker reports it. */
export interface StepReport extends HeldItem {
  position: number;
  kind: StepKind;
  name: string;
  done: boolean;
  result: JsonValue | undefined;
  error: EndError | null;
  order: number | null;
  /** Of an open TIMER. */
  delayMs: number | null;
}

export interface CallReport extends HeldItem {
  position: number;
  workflow: string;
  version: number | null;
  name: string;
  input: JsonValue | undefined;
  /** Not checked yet. Never logged. */
  routingInput: JsonValue | undefined;
  priority: number | null;
}

export interface CallAnswer extends ItemResult {
  /** Raw UUID; null where refused. */
  child: string | null;
}

export interface SuspendReport extends HeldItem {
  positions: readonly number[];
}

const NOT_SERVED = { code: 'CONFLICT', message: 'This server does not record steps yet.' };

/** Steps, calls and pauses of executions that a worker holds. */
export class DurableReports {
  calls(items: readonly CallReport[]): Promise<CallAnswer[]> {
    return Promise.resolve(items.map(({ id }) => ({ id, ...NOT_SERVED, child: null })));
  }

  steps(items: readonly StepReport[]): Promise<ItemResult[]> {
    return Promise.resolve(items.map(({ id }) => ({ id, ...NOT_SERVED })));
  }

  suspends(items: readonly SuspendReport[]): Promise<ItemResult[]> {
    return Promise.resolve(items.map(({ id }) => ({ id, ...NOT_SERVED })));
  }
}
