import { type ExecutionFieldsFragment, ExecutionStateDocument, ExecutionShowDocument } from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { executionText } from '../output/execution-text.ts';
import { parseInput, parsePairs, parseWhole } from '../settings/parse-arguments.ts';
import { type CommandContext, show } from './context.ts';

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
}

/** Seconds that `--wait` waits where it is not told. */
export const defaultWaitSeconds = 60;
const longestServerWait = 60;
const endStates: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED']);

/** The part of a run's input that comes from flags. */
export async function runInput(inputText: string | undefined, flags: RunFlags, io: Io) {
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
 * Prints the execution, with `--wait` once it has ended. Throws where it ended otherwise than COMPLETED (exit code 1), or
 * did not end in time (exit code 5); it goes on in that case.
 */
export async function finishRun(
  context: CommandContext,
  execution: ExecutionFieldsFragment,
  flags: RunFlags,
): Promise<void> {
  const seconds = waitSeconds(flags);
  const ended = seconds === 0 ? execution : await untilEnded(context, execution, seconds);
  show(context, ended, (style) => executionText(ended, Date.now(), style));
  if (seconds === 0) return;
  if (!endStates.has(ended.state)) {
    const waits = ended.parked ? ` and is parked: ${ended.parkedReason ?? ended.why}` : '';
    throw new CommandError(
      `${ended.id} has not ended after ${seconds} s; it is ${ended.state}${waits}.`,
      exitCodes.unavailable,
    );
  }
  if (ended.state !== 'COMPLETED') {
    const why = ended.error === null ? '' : `: ${ended.error.type}: ${ended.error.message}`;
    throw new CommandError(`${ended.id} ended as ${ended.state}${why}`, exitCodes.failed);
  }
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
  if (endStates.has(execution.state)) return execution;
  const { client, io } = context;
  const until = Date.parse(execution.createdAt) + seconds * 1_000;
  let told = false;
  // The server's own wait ends early where an execution parks; it may still find a worker.
  while (Date.now() < until) {
    const { execution: now } = await client.request(ExecutionStateDocument, { id: execution.id });
    if (now === null || endStates.has(now.state)) break;
    if (now.parked && !told) {
      io.err(`${execution.id} is parked: nobody can take it now. Still waiting …`);
      told = true;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const { execution: last } = await client.request(ExecutionShowDocument, { id: execution.id });
  return last ?? execution;
}
