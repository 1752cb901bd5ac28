import { RegisterWorkflowDocument, type RegisterWorkflowInput } from '@muster/client';
import {
  formatPolicy,
  type PolicyProblem,
  type PythonWorkflow,
  readPythonWorkflows,
  type RequestsSpec,
} from '@muster/core';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { problemLines } from '../output/problem-text.ts';
import { styleFor } from '../output/style.ts';
import { renderFields, renderTable, titled } from '../output/table.ts';
import { json } from '../output/words.ts';
import { readSource } from '../settings/read-source.ts';
import { type CommandContext, show } from './context.ts';

export interface RegisterFlags {
  /** Only read the files. */
  readonly check?: boolean;
}

/**
 * `muster workflow register FILE…`: registers what the files declare, read without running them. Where anything in any of
 * them cannot be read, all problems are named with line and column, nothing is registered, and the exit code is 2.
 */
export async function workflowRegister(context: CommandContext, files: readonly string[]): Promise<void> {
  const inputs = readFiles(context.io, files).map(registrationOf);
  const registered: { ref: string; id: string; number: number; created: boolean }[] = [];
  try {
    for (const input of inputs) {
      const { registerWorkflow } = await context.client.request(RegisterWorkflowDocument, { input });
      const { version, created } = registerWorkflow;
      registered.push({ ref: version.workflowRef, id: version.id, number: version.number, created });
    }
  } catch (error) {
    if (registered.length > 0) {
      context.io.err(`Registered before the one that failed: ${registered.map((one) => one.ref).join(', ')}.`);
    }
    throw error;
  }
  show(context, registered, (style) => {
    const rows = registered.map(({ ref, number, id, created }) => [
      ref,
      String(number),
      id,
      created ? style.green('new version') : 'unchanged',
    ]);
    return renderTable(titled(['workflow', 'version', 'id', ''], ['workflow', 'version', 'id']), rows, style);
  });
}

/** `muster workflow register FILE… --check`: prints what would be registered. */
export function workflowCheck(io: Io, files: readonly string[], asJson: boolean): void {
  const workflows = readFiles(io, files);
  if (asJson) io.out(json(workflows.map(registrationOf)));
  else {
    const style = styleFor(io.colour, io.columns);
    io.out(workflows.map((workflow) => renderFields(fieldsOf(workflow), style)).join('\n\n'));
  }
}

function readFiles(io: Io, files: readonly string[]): PythonWorkflow[] {
  const style = styleFor(io.colour);
  const workflows: PythonWorkflow[] = [];
  const problems: string[] = [];
  const seen = new Map<string, string>();
  for (const file of files) {
    if (/\.[cm]?[jt]sx?$/.test(file)) {
      const message = `${file}: TypeScript and JavaScript workflows register themselves at worker start: muster worker start ${file}`;
      throw new CommandError(message, exitCodes.usage);
    }
    const read = readPythonWorkflows(readSource(file, io));
    if (!read.ok) {
      problems.push(problemLines(file, read.problems, style));
      continue;
    }
    if (read.warnings.length > 0) io.err(problemLines(file, read.warnings, style));
    for (const workflow of read.workflows) {
      const ref = `${workflow.namespace}/${workflow.name}`;
      const earlier = seen.get(ref);
      if (earlier !== undefined) problems.push(problemLines(file, [declaredTwice(workflow, ref, earlier)], style));
      seen.set(ref, `${file}:${workflow.line}`);
      workflows.push(workflow);
    }
  }
  if (problems.length > 0) throw new CommandError(`${problems.join('\n')}\nNothing was registered.`, exitCodes.usage);
  return workflows;
}

function declaredTwice({ line }: PythonWorkflow, ref: string, earlier: string): PolicyProblem {
  const message = `${ref} is declared at ${earlier} already; give one of them another name.`;
  return { from: 0, to: 0, line, column: 1, code: 'WORKFLOW_DUPLICATE', message, severity: 'ERROR' };
}

/** Policies in their canonical text: names as the policy language knows them, whatever the file imported them as. */
function registrationOf(workflow: PythonWorkflow): RegisterWorkflowInput {
  const { namespace, name, description, routing, affinity, requests, runner, maxAttempts, timeoutSeconds } = workflow;
  return {
    namespace,
    name,
    description,
    routing: routing === null ? null : formatPolicy(routing, 'ROUTING'),
    affinity: affinity === null ? null : formatPolicy(affinity, 'AFFINITY'),
    requests: requests === null ? null : requestsInput(requests),
    runner,
    ...(maxAttempts === null ? {} : { maxAttempts }),
    timeoutSeconds,
  };
}

function requestsInput({ cpu, memory, disk, gpu, packages }: RequestsSpec) {
  return {
    cpu: cpu ?? null,
    memory: typeof memory === 'number' ? memory : null,
    memoryText: typeof memory === 'string' ? memory : null,
    disk: disk ?? null,
    gpu: gpu ?? null,
    packages: packages ?? [],
  };
}

function fieldsOf(workflow: PythonWorkflow): (readonly [string, string | null])[] {
  const { routing, affinity, requests, maxAttempts, timeoutSeconds } = workflow;
  return [
    ['workflow', `${workflow.namespace}/${workflow.name}`],
    ['description', workflow.description],
    ['routing', routing === null ? null : formatPolicy(routing, 'ROUTING')],
    ['affinity', affinity === null ? null : formatPolicy(affinity, 'AFFINITY')],
    ['requests', requests === null ? null : formatPolicy(requests, 'REQUESTS')],
    ['runner', workflow.runner],
    ['attempts', maxAttempts === null ? null : String(maxAttempts)],
    ['timeout', timeoutSeconds === null ? null : `${timeoutSeconds} s`],
  ];
}
