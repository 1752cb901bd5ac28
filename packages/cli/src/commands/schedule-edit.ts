import {
  type CreateScheduleInput,
  ScheduleCreateDocument,
  ScheduleUpdateDocument,
  type UpdateScheduleInput,
} from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { parseInput, parsePairs, parseWhole } from '../settings/parse-arguments.ts';
import { parseDuration } from '../settings/parse-duration.ts';
import type { CommandContext } from './context.ts';
import { revisionOf, showWritten } from './schedule-commands.ts';

/** What can be said of a schedule; texts as they were typed. */
export interface ScheduleFlags {
  readonly cron?: string;
  readonly every?: string;
  readonly startAt?: string;
  readonly at?: string;
  readonly timeZone?: string;
  readonly workflow?: string;
  readonly versionId?: string;
  readonly deployment?: string;
  readonly session?: string;
  readonly routingInput?: readonly string[];
  readonly priority?: string;
  readonly parkTtl?: string;
  readonly overlap?: string;
  readonly catchUp?: string;
  readonly description?: string;
}

export type ScheduleCreateFlags = ScheduleFlags & { readonly paused?: boolean; readonly idempotencyKey?: string };
export type ScheduleUpdateFlags = ScheduleFlags & {
  readonly name?: string;
  readonly clear?: readonly string[];
  readonly expectedRevision?: string;
};

/** What `--clear` may name, and the field that it empties. */
export const clearable = {
  description: 'description',
  'version-id': 'versionId',
  session: 'sessionKey',
  input: 'input',
  'park-ttl': 'parkTtlSeconds',
  'routing-input': 'routingInput',
} as const;

/** Values of `--overlap`, and what the API calls them. */
export const overlaps = { skip: 'SKIP', 'queue-one': 'QUEUE_ONE', allow: 'ALLOW', replace: 'REPLACE' } as const;

const longestIntervalSeconds = 31_536_000;

/** `muster schedule create NAME [INPUT] …`. */
export async function scheduleCreate(
  context: CommandContext,
  name: string,
  inputText: string | undefined,
  flags: ScheduleCreateFlags,
): Promise<void> {
  const input: CreateScheduleInput = {
    name,
    ...(await contentOf(inputText, flags, context)),
    paused: flags.paused ?? false,
    ...(flags.idempotencyKey === undefined ? {} : { idempotencyKey: flags.idempotencyKey }),
  };
  const { createSchedule } = await context.client.request(ScheduleCreateDocument, { input });
  showWritten(context, createSchedule);
}

/** `muster schedule update NAME [INPUT] …`: what is not named stays. Refused with CONFLICT where somebody else was faster. */
export async function scheduleUpdate(
  context: CommandContext,
  name: string,
  inputText: string | undefined,
  flags: ScheduleUpdateFlags,
): Promise<void> {
  const content = await contentOf(inputText, flags, context);
  const input: UpdateScheduleInput = {
    ...content,
    ...cleared(flags.clear ?? [], content),
    ...(flags.name === undefined ? {} : { newName: flags.name }),
    name,
    expectedRevision: await revisionOf(context, name, flags.expectedRevision),
  };
  const { updateSchedule } = await context.client.request(ScheduleUpdateDocument, { input });
  showWritten(context, updateSchedule);
}

type Content = Omit<UpdateScheduleInput, 'name' | 'newName' | 'expectedRevision'>;

async function contentOf(
  inputText: string | undefined,
  flags: ScheduleFlags,
  { io }: CommandContext,
): Promise<Content> {
  const input = await parseInput(inputText, io);
  const routingInput = parsePairs(flags.routingInput ?? [], '--routing-input');
  const all: Content = {
    cron: flags.cron,
    intervalSeconds:
      flags.every === undefined ? undefined : parseDuration(flags.every, '--every', longestIntervalSeconds),
    startAt: flags.startAt,
    at: flags.at,
    timeZone: flags.timeZone,
    workflow: flags.workflow,
    versionId: flags.versionId,
    deployment: flags.deployment,
    sessionKey: flags.session,
    input,
    routingInput: Object.keys(routingInput).length === 0 ? undefined : routingInput,
    priority: flags.priority === undefined ? undefined : parseWhole(flags.priority, '--priority', -1_000, 1_000),
    parkTtlSeconds: flags.parkTtl === undefined ? undefined : parseWhole(flags.parkTtl, '--park-ttl', 0, 31_536_000),
    overlap: flags.overlap === undefined ? undefined : overlapOf(flags.overlap),
    catchUpLimit: flags.catchUp === undefined ? undefined : parseWhole(flags.catchUp, '--catch-up', 0, 100),
    description: flags.description,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function overlapOf(text: string): (typeof overlaps)[keyof typeof overlaps] {
  if (Object.hasOwn(overlaps, text)) return overlaps[text as keyof typeof overlaps];
  throw new CommandError(`--overlap is one of ${Object.keys(overlaps).join(', ')}.`, exitCodes.usage);
}

/** Routing input is cleared by an empty object: null would keep it. */
function cleared(names: readonly string[], content: Content): Content {
  return Object.fromEntries(
    names.map((name) => {
      if (!Object.hasOwn(clearable, name)) {
        throw new CommandError(`--clear takes ${Object.keys(clearable).join(', ')}.`, exitCodes.usage);
      }
      const field = clearable[name as keyof typeof clearable];
      if (field in content) throw new CommandError(`${name} cannot be given and cleared at once.`, exitCodes.usage);
      return [field, field === 'routingInput' ? {} : null];
    }),
  );
}
