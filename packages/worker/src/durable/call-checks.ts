import { checkRoutingInput, MusterError, parseWorkflowRef } from '@muster/core';
import type { CallOptions } from '../execution-context.ts';
import { isWorkflow } from '../workflow.ts';
import { currentTask } from './task-runner.ts';

/** Longest sleep that makes sense: ten years. */
const maxSleepMs = 10 * 365 * 86_400_000;
const maxNameLength = 200;

/** Durable calls belong to the handler: inside of a task they would be made in some tries and not in others. */
export function checkOutsideTask(method: string): void {
  const task = currentTask();
  if (task === undefined) return;
  throw usage(
    `ctx.${method} cannot be used inside of the task "${task.name}". Return from the task first, and call it in the handler.`,
  );
}

export function checkStepName(method: string, name: unknown): void {
  if (typeof name === 'string' && name !== '' && name.length <= maxNameLength) return;
  throw usage(`ctx.${method} takes a name of 1 to ${maxNameLength} characters first.`);
}

export function checkFunction(name: string, fn: unknown): void {
  if (typeof fn !== 'function') throw usage(`The task "${name}" needs a function; it was given a ${typeof fn}.`);
}

export function checkSleep(ms: unknown): void {
  if (typeof ms === 'number' && ms >= 0 && ms <= maxSleepMs) return;
  throw usage(`ctx.sleep takes milliseconds from 0 to ${maxSleepMs} (ten years), not ${String(ms)}.`);
}

/** The value as JSON has it, null for undefined. */
export function checkJson(what: string, value: unknown): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(value ?? null);
  } catch (error) {
    throw usage(`${what} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (text === undefined) throw usage(`${what} is not JSON: a ${typeof value} cannot be sent.`);
  return JSON.parse(text) as unknown;
}

/** The ref that a call names. Routing input is checked by the one validator, before anything is sent; no message has a value of it. */
export function checkCall(workflow: unknown, options: CallOptions): string {
  const given = typeof workflow === 'string' ? workflow : isWorkflow(workflow) ? workflow.ref : '';
  const parts = parseWorkflowRef(given);
  if (parts === null) {
    throw usage(`ctx.call takes a workflow, or its "namespace/name"; it was given ${describe(workflow)}.`);
  }
  const { routingInput, version, priority } = options;
  if (routingInput !== undefined) {
    const checked = checkRoutingInput(routingInput);
    if (!checked.accept)
      throw new MusterError('ROUTING_INPUT_INVALID', checked.issue.message, { issues: [checked.issue] });
  }
  if (version !== undefined && !(Number.isInteger(version) && version >= 1))
    throw usage(`ctx.call: version is a whole number from 1, not ${String(version)}.`);
  if (priority !== undefined && !Number.isInteger(priority))
    throw usage(`ctx.call: priority is a whole number, not ${String(priority)}.`);
  return `${parts.namespace}/${parts.name}`;
}

function describe(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(value)
    : `a value of type ${value === null ? 'null' : typeof value}`;
}

function usage(message: string): MusterError {
  return new MusterError('BAD_INPUT', message);
}
