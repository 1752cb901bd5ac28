import {
  ExecutionCancelDocument,
  ExecutionEventListDocument,
  type ExecutionFieldsFragment,
  type ExecutionFilter,
  ExecutionListDocument,
  ExecutionResumeDocument,
  ExecutionRetryDocument,
  ExecutionShowDocument,
  ExecutionWhyDocument,
} from '@muster/client';
import { EXECUTION_STATES, type ExecutionState } from '@muster/core';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { eventText } from '../output/event-text.ts';
import { executionDetailText, executionText } from '../output/execution-text.ts';
import { paintState } from '../output/style.ts';
import { renderTable, titled } from '../output/table.ts';
import { whyText } from '../output/why-text.ts';
import { ago } from '../output/words.ts';
import { parseInput, parseWhole } from '../settings/parse-arguments.ts';
import { allPages } from './all-pages.ts';
import { type CommandContext, show } from './context.ts';
import { printEvents } from './run-flags.ts';

export interface ExecutionListFlags {
  readonly state?: readonly string[];
  readonly workflow?: string;
  readonly deployment?: string;
  readonly variant?: string;
  readonly worker?: string;
  readonly role?: string;
  readonly session?: string;
  readonly parent?: string;
  readonly parked?: boolean;
  readonly limit?: string;
}

export interface EventsFlags {
  readonly follow?: boolean;
  readonly after?: string;
}

/** `muster execution list`. */
export async function executionList(context: CommandContext, flags: ExecutionListFlags): Promise<void> {
  const limit = flags.limit === undefined ? 50 : parseWhole(flags.limit, '--limit', 1, 10_000);
  const filter = filterOf(flags);
  const { nodes, more } = await allPages(async (first, after) => {
    return (await context.client.request(ExecutionListDocument, { first, after, filter })).executions;
  }, limit);
  show(context, nodes, (style) => {
    if (nodes.length === 0) return 'No executions.';
    const now = Date.now();
    const rows = nodes.map((one) => [
      one.id,
      one.workflowRef,
      one.deployment === null ? '' : `${one.deployment.slug}/${one.variantLabel ?? ''}`,
      paintState(one.parked ? 'PARKED' : one.state, style),
      one.workerName ?? '',
      ago(one.createdAt, now),
      one.why,
    ]);
    const columns = titled(
      ['execution', 'workflow', 'deployment', 'state', 'worker', 'age', 'why'],
      ['execution', 'state', 'age'],
    );
    return renderTable(columns, rows, style) + (more ? '\n… and more (--limit)' : '');
  });
}

/** `muster execution show ID`. */
export async function executionShow(context: CommandContext, id: string): Promise<void> {
  const { execution } = await context.client.request(ExecutionShowDocument, { id });
  if (execution === null) throw missing(id);
  show(context, execution, (style) => executionDetailText(execution, Date.now(), style));
}

/** `muster execution events ID [--follow]`: with `--json` a list, or one line each with `--follow`. */
export async function executionEvents(context: CommandContext, id: string, flags: EventsFlags): Promise<void> {
  const after = flags.after === undefined ? 0 : parseWhole(flags.after, '--after', 0, 2_147_483_647);
  if (flags.follow === true) {
    const state = await printEvents(context, id, after);
    if (state !== 'COMPLETED') throw new CommandError(`${id} ended as ${state}.`, exitCodes.failed);
    return;
  }
  const { nodes, more } = await allPages(async (first, cursor) => {
    const { execution } = await context.client.request(ExecutionEventListDocument, { id, first, after: cursor });
    if (execution === null) throw missing(id);
    return execution.events;
  }, 20_000);
  const events = nodes.filter((event) => event.sequence > after);
  show(context, events, (style) => {
    if (events.length === 0) return 'No events.';
    return events.map((event) => eventText(event, style)).join('\n') + (more ? '\n… and more (--after)' : '');
  });
}

/** `muster execution cancel ID`. */
export async function executionCancel(context: CommandContext, id: string): Promise<void> {
  const { cancelExecution } = await context.client.request(ExecutionCancelDocument, { id });
  showChanged(context, cancelExecution.execution);
}

/** `muster execution resume ID [INPUT]`. */
export async function executionResume(
  context: CommandContext,
  id: string,
  inputText: string | undefined,
): Promise<void> {
  const input = await parseInput(inputText, context.io);
  const variables = { input: { id, ...(input === undefined ? {} : { input }) } };
  const { resumeExecution } = await context.client.request(ExecutionResumeDocument, variables);
  showChanged(context, resumeExecution.execution);
}

/** `muster execution retry ID`: the new execution is printed. */
export async function executionRetry(context: CommandContext, id: string): Promise<void> {
  const { retryExecution } = await context.client.request(ExecutionRetryDocument, { id });
  showChanged(context, retryExecution.execution);
}

/** `muster why ID`: the explanation of where it is. */
export async function why(context: CommandContext, id: string): Promise<void> {
  const { execution } = await context.client.request(ExecutionWhyDocument, { id });
  if (execution === null) throw missing(id);
  show(context, execution, (style) => whyText(execution, Date.now(), style));
}

function showChanged(context: CommandContext, execution: ExecutionFieldsFragment): void {
  show(context, execution, (style) => executionText(execution, Date.now(), style));
}

function filterOf(flags: ExecutionListFlags): ExecutionFilter {
  const { state, workflow, deployment, variant, worker, role, session, parent, parked } = flags;
  return {
    ...(state === undefined ? {} : { states: state.map(stateOf) }),
    ...(workflow === undefined ? {} : { workflow: workflow.includes('/') ? workflow : `default/${workflow}` }),
    ...(deployment === undefined ? {} : { deployment }),
    ...(variant === undefined ? {} : { variant }),
    ...(worker === undefined ? {} : { worker }),
    ...(role === undefined ? {} : { role }),
    ...(session === undefined ? {} : { sessionKey: session }),
    ...(parent === undefined ? {} : { parent }),
    ...(parked === true ? { parked } : {}),
  };
}

function stateOf(text: string): ExecutionState {
  const found = EXECUTION_STATES.find((state) => state === text.toUpperCase());
  if (found !== undefined) return found;
  throw new CommandError(`--state is one of ${EXECUTION_STATES.join(', ')}.`, exitCodes.usage);
}

function missing(id: string): CommandError {
  return new CommandError(`There is no execution ${id}.`, exitCodes.notFound);
}
