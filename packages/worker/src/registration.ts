import type { RegisterWorkflowInput, ResourceRequestsInput } from '@muster/client';
import { formatPolicy, MusterError, parsePolicyText, type RequestsSpec } from '@muster/core';
import type { Workflow } from './workflow.ts';

/**
 * What registers a workflow: its policies as text, whichever way they were given. Requests given as text are read here,
 * because the API takes their fields; throws POLICY_INVALID where they cannot be.
 */
export function registration({ namespace, options }: Workflow): RegisterWorkflowInput {
  const { name, description, routing, affinity, requests, runner, maxAttempts, timeoutSeconds } = options;
  return {
    namespace,
    name,
    description: description ?? null,
    routing:
      routing === undefined || typeof routing === 'string' ? (routing ?? null) : formatPolicy(routing, 'ROUTING'),
    affinity:
      affinity === undefined || typeof affinity === 'string' ? (affinity ?? null) : formatPolicy(affinity, 'AFFINITY'),
    requests:
      requests === undefined ? null : requestsInput(typeof requests === 'string' ? readRequests(requests) : requests),
    runner: runner ?? null,
    maxAttempts: maxAttempts ?? 3,
    timeoutSeconds: timeoutSeconds ?? null,
  };
}

function readRequests(text: string): RequestsSpec {
  const parsed = parsePolicyText(text, 'REQUESTS');
  if (!parsed.ok) {
    const { problems } = parsed;
    throw new MusterError('POLICY_INVALID', problems.map((problem) => problem.message).join('; '));
  }
  return parsed.spec;
}

function requestsInput({ cpu, memory, disk, gpu, packages }: RequestsSpec): ResourceRequestsInput {
  return {
    cpu: cpu ?? null,
    memory: typeof memory === 'number' ? memory : null,
    memoryText: typeof memory === 'string' ? memory : null,
    disk: disk ?? null,
    gpu: gpu ?? null,
    packages: packages ?? [],
  };
}
