import { PolicyPreviewDocument } from '@muster/client';
import { parsePolicyText, type RequestsSpec } from '@muster/core';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { problemLines } from '../output/problem-text.ts';
import { styleFor } from '../output/style.ts';
import { previewText } from '../output/why-text.ts';
import { parseInput, parsePairs, parseWhole } from '../settings/parse-arguments.ts';
import { readTextOption } from '../settings/read-source.ts';
import { type CommandContext, show } from './context.ts';

export interface PreviewFlags {
  readonly workflow?: string;
  readonly routing?: string;
  readonly affinity?: string;
  readonly requests?: string;
  readonly runner?: string;
  readonly targetRole?: readonly string[];
  readonly input?: string;
  readonly routingInput?: readonly string[];
  readonly requireWorker?: string;
  readonly preferWorker?: string;
  readonly decision?: string;
  readonly weight?: readonly string[];
}

/** `muster policy preview`: what would be decided now; nothing is stored or dispatched. */
export async function policyPreview(context: CommandContext, flags: PreviewFlags): Promise<void> {
  const { io } = context;
  const written = flags.routing ?? flags.affinity ?? flags.requests ?? flags.runner;
  if (flags.workflow !== undefined && written !== undefined) {
    throw usage('Give --workflow, or the parts of one (--routing, --affinity, --requests, --runner), not both.');
  }
  const routingInput = parsePairs(flags.routingInput ?? [], '--routing-input');
  const given = await parseInput(flags.input, io);
  const input = {
    workflow: flags.workflow ?? null,
    routing: flags.routing === undefined ? null : await readTextOption(flags.routing, io),
    affinity: flags.affinity === undefined ? null : await readTextOption(flags.affinity, io),
    requests: flags.requests === undefined ? null : readRequests(await readTextOption(flags.requests, io)),
    runner: flags.runner ?? null,
    targetRoles: [...(flags.targetRole ?? [])],
    ...(given === undefined ? {} : { input: given }),
    ...(Object.keys(routingInput).length === 0 ? {} : { routingInput }),
    requiredWorker: flags.requireWorker ?? null,
    preferredWorker: flags.preferWorker ?? null,
    decision: flags.decision ?? null,
    weights: weightsOf(flags.weight ?? []),
  };
  const { previewDispatch } = await context.client.request(PolicyPreviewDocument, { input });
  show(context, previewDispatch, (style) => previewText(previewDispatch, style));
}

/** `1=20` as a list by term, null where a term keeps its weight. */
function weightsOf(pairs: readonly string[]): (number | null)[] | null {
  if (pairs.length === 0) return null;
  const weights: (number | null)[] = [];
  for (const [term, text] of Object.entries(parsePairs(pairs, '--weight'))) {
    const index = parseWhole(term, 'The term of --weight', 1, 64) - 1;
    const weight = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(weight > 0)) throw usage(`The weight of term ${term} must be a number above 0.`);
    while (weights.length <= index) weights.push(null);
    weights[index] = weight;
  }
  return weights;
}

function readRequests(text: string) {
  const parsed = parsePolicyText(text, 'REQUESTS');
  if (!parsed.ok) throw usage(problemLines('--requests', parsed.problems, styleFor(false)));
  const { cpu, memory, disk, gpu, packages }: RequestsSpec = parsed.spec;
  return {
    cpu: cpu ?? null,
    memory: typeof memory === 'number' ? memory : null,
    memoryText: typeof memory === 'string' ? memory : null,
    disk: disk ?? null,
    gpu: gpu ?? null,
    packages: packages ?? [],
  };
}

function usage(message: string): CommandError {
  return new CommandError(message, exitCodes.usage);
}
