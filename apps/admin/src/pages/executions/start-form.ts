import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { fieldIssue } from '../../api/issues.ts';
import { RunDeploymentDocument, RunWorkflowDocument } from './execution-queries.ts';
import { type JsonReading, readJson } from './json-input.ts';

export interface StartValues {
  input: string;
  routingInput: string;
  sessionKey: string;
  preferredWorker: string;
  requiredWorker: string;
  /** '' where nothing is typed. */
  parkTtlSeconds: number | string;
  priority: number | string;
}

export type StartTarget = { kind: 'deployment' | 'workflow'; name: string };

const EMPTY: StartValues = {
  input: '{}',
  routingInput: '',
  sessionKey: '',
  preferredWorker: '',
  requiredWorker: '',
  parkTtlSeconds: '',
  priority: '',
};

/** Fields that show their own problems; whatever else the API finds stands above the form. */
const FIELDS = [...Object.keys(EMPTY), 'deployment', 'workflow'];

/** The part of both mutations' input that the form fills. What is empty is left out, so that the server's defaults hold. */
export function sharedInput(values: StartValues, input: JsonReading, routingInput: JsonReading) {
  const text = (value: string): string | undefined => (value.trim() === '' ? undefined : value.trim());
  const number = (value: number | string): number | undefined => (typeof value === 'number' ? value : undefined);
  const shared = {
    input: input.ok ? input.value : undefined,
    routingInput: routingInput.ok ? routingInput.value : undefined,
    preferredWorker: text(values.preferredWorker),
    requiredWorker: text(values.requiredWorker),
    parkTtlSeconds: number(values.parkTtlSeconds),
    priority: number(values.priority),
  };
  return Object.fromEntries(Object.entries(shared).filter(([, value]) => value !== undefined)) as Partial<
    typeof shared
  >;
}

/** State and submission of the form that starts an execution. */
export function useStartForm(target: StartTarget, onStarted: (id: string) => void) {
  const [values, setValues] = useState(EMPTY);
  const [checked, setChecked] = useState(false);
  // One key per form: pressing the button twice starts one execution.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const input = readJson(values.input);
  const routingInput = readJson(values.routingInput);
  const run = useMutation<string, ApiError>({
    mutationFn: async () => {
      const shared = { idempotencyKey, ...sharedInput(values, input, routingInput) };
      if (target.kind === 'workflow') {
        const { runWorkflow } = await execute(RunWorkflowDocument, { input: { workflow: target.name, ...shared } });
        return runWorkflow.execution.id;
      }
      const session = values.sessionKey === '' ? {} : { sessionKey: values.sessionKey };
      const { runDeployment } = await execute(RunDeploymentDocument, {
        input: { deployment: target.name, ...session, ...shared },
      });
      return runDeployment.execution.id;
    },
    onSuccess: onStarted,
  });
  const issue = (field: string): string | null => fieldIssue(run.error, field);
  return {
    values,
    set: (patch: Partial<StartValues>) => setValues((old) => ({ ...old, ...patch })),
    pending: run.isPending,
    /** A problem that belongs to no field. */
    error: run.error && FIELDS.every((field) => issue(field) === null) ? run.error : null,
    targetProblem: checked && target.name === '' ? `Choose a ${target.kind}.` : issue(target.kind),
    inputProblem: input.ok ? issue('input') : input.problem,
    routingProblem: routingInput.ok ? issue('routingInput') : 'Not a JSON object.',
    issue,
    submit: () => {
      setChecked(true);
      if (target.name !== '' && input.ok && routingInput.ok) run.mutate();
    },
  };
}
