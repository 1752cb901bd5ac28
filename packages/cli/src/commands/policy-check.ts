import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { formatPolicy, parsePolicyText, type PolicyProblem, type PolicyStage, readPythonWorkflows } from '@muster/core';
import { CommandError, type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { problemLines } from '../output/problem-text.ts';
import { styleFor } from '../output/style.ts';
import { renderText } from '../output/table.ts';
import { json } from '../output/words.ts';
import { readSource } from '../settings/read-source.ts';

export interface PolicyCheckFlags {
  readonly stage?: string;
  readonly json?: boolean;
}

interface CheckedPolicy {
  readonly stage: PolicyStage;
  readonly spec: unknown;
  readonly formatted: string;
}

/** `ok: false`: `policies` is empty. `workflow`: where a Python file was read. */
interface Checked {
  readonly ok: boolean;
  readonly policies: readonly (CheckedPolicy & { readonly workflow?: string })[];
  readonly problems: readonly PolicyProblem[];
}

/** `muster policy check TEXT|FILE`: exit code 0 where it is legal, 1 with every problem where it is not. */
export async function policyCheck(io: Io, given: string, flags: PolicyCheckFlags): Promise<ExitCode> {
  const { name, text } = await sourceOf(given, io);
  const checked = name.endsWith('.py') ? checkFile(text) : checkText(text, stageOf(text, flags.stage));
  if (flags.json === true) io.out(json(checked));
  else {
    const style = styleFor(io.colour, io.columns);
    if (checked.problems.length > 0) io.err(problemLines(name, checked.problems, style));
    const texts = checked.policies.map(({ workflow, formatted }) => {
      return workflow === undefined ? formatted : `${style.dim(`# ${workflow}`)}\n${formatted}`;
    });
    if (checked.ok) io.out(texts.length === 0 ? 'No workflow has a policy.' : renderText(texts.join('\n'), style));
  }
  return checked.ok ? exitCodes.ok : exitCodes.failed;
}

/** What was typed is a file where there is one of that name, and the text itself where it has brackets. */
async function sourceOf(given: string, io: Io): Promise<{ readonly name: string; readonly text: string }> {
  if (given === '-') return { name: 'stdin', text: await io.readStdin() };
  const file = given.startsWith('@') ? given.slice(1) : given;
  if (file !== given || isFile(file, io)) return { name: file, text: readSource(file, io) };
  if (/[({]/.test(given)) return { name: 'text', text: given };
  throw new CommandError(`There is no file ${file}, and it is no policy either.`, exitCodes.usage);
}

function isFile(name: string, io: Io): boolean {
  return name.length < 1_000 && !name.includes('\0') && existsSync(resolve(io.cwd, name));
}

function stageOf(text: string, flag: string | undefined): PolicyStage {
  const stages: readonly PolicyStage[] = ['ROUTING', 'AFFINITY', 'REQUESTS'];
  if (flag !== undefined) {
    const found = stages.find((stage) => stage === flag.toUpperCase());
    if (found === undefined) throw new CommandError('--stage is routing, affinity or requests.', exitCodes.usage);
    return found;
  }
  const start = /^(?:\s|#[^\r\n]*|\()*(?:(?:flux\.)?routing\s*\.\s*)?(require\b|ResourceRequest\b|\{)?/.exec(text)?.[1];
  if (start === 'ResourceRequest') return 'REQUESTS';
  return start === undefined ? 'ROUTING' : 'AFFINITY';
}

function checkText(text: string, stage: PolicyStage): Checked {
  const parsed = parsePolicyText(text, stage);
  if (!parsed.ok) return { ok: false, policies: [], problems: parsed.problems };
  const policy = { stage, spec: parsed.spec, formatted: formatPolicy(parsed.spec, stage) };
  return { ok: true, policies: [policy], problems: parsed.warnings };
}

function checkFile(text: string): Checked {
  const read = readPythonWorkflows(text);
  if (!read.ok) return { ok: false, policies: [], problems: read.problems };
  const policies = read.workflows.flatMap(({ namespace, name, routing, affinity, requests }) => {
    const found: (CheckedPolicy & { readonly workflow: string })[] = [];
    const workflow = `${namespace}/${name}`;
    const add = (stage: PolicyStage, spec: unknown, formatted: string): number =>
      found.push({ workflow, stage, spec, formatted });
    if (routing !== null) add('ROUTING', routing, formatPolicy(routing, 'ROUTING'));
    if (affinity !== null) add('AFFINITY', affinity, formatPolicy(affinity, 'AFFINITY'));
    if (requests !== null) add('REQUESTS', requests, formatPolicy(requests, 'REQUESTS'));
    return found;
  });
  return { ok: true, policies, problems: read.warnings };
}
