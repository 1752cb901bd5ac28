import { type ExecutionFieldsFragment, ExecutionStateDocument, ExecutionShowDocument } from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { eventText } from '../output/event-text.ts';
import { executionText } from '../output/execution-text.ts';
import { styleFor } from '../output/style.ts';
import { parseInput, parsePairs, parseWhole } from '../settings/parse-arguments.ts';
import { type CommandContext, show } from './context.ts';
import { followEvents, hasEnded } from './follow.ts';

/** The options that both kinds of runs have; texts as they were typed. */
export interface RunFlags {
  readonly routingInput?: readonly string[];
  readonly requireWorker?: string;
  readonly preferWorker?: string;
  readonly parkTtl?: string;
  readonly priority?: string;
  readonly idempotencyKey?: string;
  /** true: `--wait` without a number. */
  readonly wait?: string | true;
  readonly follow?: boolean;
}

/** Seconds that `--wait` waits where it is not told. */
export const defaultWaitSeconds = 60;
const longestServerWait = 60;

/** The part of a run's input that comes from flags. */
export async function runInput(inputText: string | undefined, flags: RunFlags, io: Io) {
  if (flags.follow === true && flags.wait !== undefined) {
    throw new CommandError('--follow waits for the end by itself: leave --wait out.', exitCodes.usage);
  }
  const input = await parseInput(inputText, io);
  const routingInput = parsePairs(flags.routingInput ?? [], '--routing-input');
  return {
    ...(input === undefined ? {} : { input }),
    ...(Object.keys(routingInput).length === 0 ? {} : { routingInput }),
    requiredWorker: flags.requireWorker ?? null,
    preferredWorker: flags.preferWorker ?? null,
    parkTtlSeconds: flags.parkTtl === undefined ? null : parseWhole(flags.parkTtl, '--park-ttl', 0, 31_536_000),
    priority: flags.priority === undefined ? 0 : parseWhole(flags.priority, '--priority', -1_000, 1_000),
    idempotencyKey: flags.idempotencyKey ?? null,
    waitSeconds: Math.min(waitSeconds(flags), longestServerWait),
  };
}

/**
 * Prints the execution, with `--wait` once it has ended, with `--follow` its events and then the execution. Throws where it
 * ended otherwise than COMPLETED (exit code 1), or did not end in time (exit code 5); it goes on in that case.
 */
export async function finishRun(
  context: CommandContext,
  execution: ExecutionFieldsFragment,
  flags: RunFlags,
): Promise<void> {
  if (flags.follow === true) return await followRun(context, execution);
  const seconds = waitSeconds(flags);
  const ended = seconds === 0 ? execution : await untilEnded(context, execution, seconds);
  show(context, ended, (style) => executionText(ended, Date.now(), style));
  if (seconds === 0) return;
  if (!hasEnded(ended.state)) {
    const waits = ended.parked ? ` and is parked: ${ended.parkedReason ?? ended.why}` : '';
    throw new CommandError(
      `${ended.id} has not ended after ${seconds} s; it is ${ended.state}${waits}.`,
      exitCodes.unavailable,
    );
  }
  requireCompleted(ended);
}

/** Prints the events of an execution as they come, as lines of JSON with `--json`; answers the end state. */
export async function printEvents(context: CommandContext, id: string, after: number): Promise<string> {
  const style = styleFor(context.io.colour, context.io.columns);
  return await followEvents(context, id, after, (event) => {
    context.io.out(context.json ? JSON.stringify(event) : eventText(event, style));
  });
}

async function followRun(context: CommandContext, execution: ExecutionFieldsFragment): Promise<void> {
  const { client, io } = context;
  if (!context.json) io.err(`${execution.id} is ${execution.state}.`);
  await printEvents(context, execution.id, 0);
  const { execution: shown } = await client.request(ExecutionShowDocument, { id: execution.id });
  // Its events have been printed already.
  const ended = shown === null ? execution : { ...shown, events: undefined };
  io.out(
    context.json
      ? JSON.stringify({ execution: ended })
      : `\n${executionText(ended, Date.now(), styleFor(io.colour, io.columns))}`,
  );
  requireCompleted(ended);
}

/** Throws, with exit code 1, where an execution has ended otherwise than COMPLETED. */
function requireCompleted({ id, state, error }: ExecutionFieldsFragment): void {
  if (state === 'COMPLETED') return;
  const why = error === null ? '' : `: ${error.type}: ${error.message}`;
  throw new CommandError(`${id} ended as ${state}${why}`, exitCodes.failed);
}

function waitSeconds(flags: RunFlags): number {
  if (flags.wait === undefined) return 0;
  return flags.wait === true ? defaultWaitSeconds : parseWhole(flags.wait, '--wait', 1, 86_400);
}

async function untilEnded(
  context: CommandContext,
  execution: ExecutionFieldsFragment,
  seconds: number,
): Promise<ExecutionFieldsFragment> {
  if (hasEnded(execution.state)) return execution;
  const { client, io } = context;
  const until = Date.parse(execution.createdAt) + seconds * 1_000;
  let told = false;
  // The server's own wait ends early where an execution parks; it may still find a worker.
  while (Date.now() < until) {
    const { execution: now } = await client.request(ExecutionStateDocument, { id: execution.id });
    if (now === null || hasEnded(now.state)) break;
    if (now.parked && !told) {
      io.err(`${execution.id} is parked: nobody can take it now. Still waiting …`);
      told = true;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const { execution: last } = await client.request(ExecutionShowDocument, { id: execution.id });
  return last ?? execution;
}
