import { Button, JsonInput, NumberInput, PasswordInput, SegmentedControl, Select, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { usePage } from '../../hooks/use-page.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { paths } from '../../paths.ts';
import { useFollow } from '../../ui/anchor.tsx';
import { Banner } from '../../ui/banner.tsx';
import { PageHead, Panel } from '../../ui/layout.tsx';
import { text } from '../../url-state.ts';
import { RunDeploymentDocument, RunWorkflowDocument, TargetsDocument } from './execution-queries.ts';
import { readJson } from './json-input.ts';

const SHAPE = { deployment: text(), workflow: text() };

/** Start one execution, of a deployment (which picks the variant) or of a workflow. */
export function ExecutionNewPage() {
  usePage([{ name: 'Executions', href: paths.executions() }, { name: 'Start an execution' }]);
  const [url, setUrl] = useUrlState(SHAPE);
  const follow = useFollow();
  const kind = url.workflow !== '' ? 'workflow' : 'deployment';
  const [chosen, setChosen] = useState<'deployment' | 'workflow'>(kind);
  const [input, setInput] = useState('{}');
  const [routingInput, setRoutingInput] = useState('');
  const [sessionKey, setSessionKey] = useState('');
  const [preferredWorker, setPreferredWorker] = useState('');
  const [requiredWorker, setRequiredWorker] = useState('');
  const [parkTtl, setParkTtl] = useState<number | string>('');
  const [priority, setPriority] = useState<number | string>('');
  // One key per form: pressing the button twice starts one execution.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const [checked, setChecked] = useState(false);
  const targets = useQuery({
    queryKey: ['run-targets'],
    queryFn: ({ signal }) => execute(TargetsDocument, {}, { signal }),
  });
  const target = chosen === 'deployment' ? url.deployment : url.workflow;
  const readInput = readJson(input);
  const readRouting = readJson(routingInput);
  const run = useMutation<string, ApiError>({
    mutationFn: async () => {
      const shared = {
        idempotencyKey,
        ...(readInput.ok && readInput.value !== undefined && { input: readInput.value }),
        ...(readRouting.ok && readRouting.value !== undefined && { routingInput: readRouting.value }),
        ...(preferredWorker.trim() !== '' && { preferredWorker: preferredWorker.trim() }),
        ...(requiredWorker.trim() !== '' && { requiredWorker: requiredWorker.trim() }),
        ...(typeof parkTtl === 'number' && { parkTtlSeconds: parkTtl }),
        ...(typeof priority === 'number' && { priority }),
      };
      if (chosen === 'workflow') {
        return (await execute(RunWorkflowDocument, { input: { workflow: target, ...shared } })).runWorkflow.execution
          .id;
      }
      const session = sessionKey === '' ? {} : { sessionKey };
      return (await execute(RunDeploymentDocument, { input: { deployment: target, ...session, ...shared } }))
        .runDeployment.execution.id;
    },
    onSuccess: (id) => follow(paths.execution(id)),
  });
  const issue = (field: string): string | null =>
    run.error?.issues.find((each) => each.path.replace(/^input\./, '').split('.')[0] === field)?.message ??
    (run.error?.field?.replace(/^input\./, '') === field ? run.error.message : null);
  const onFields = [
    'input',
    'routingInput',
    'sessionKey',
    'preferredWorker',
    'requiredWorker',
    'parkTtlSeconds',
    'priority',
    'deployment',
    'workflow',
  ];
  const elsewhere = run.error && !onFields.some((field) => issue(field) !== null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setChecked(true);
    if (target !== '' && readInput.ok && readRouting.ok) run.mutate();
  };
  return (
    <>
      <PageHead title="Start an execution" meta="It runs for real. The Why is on the page that opens." />
      {elsewhere && run.error && (
        <Banner tone="bad" title={run.error.code === 'NO_HEALTHY_VARIANT' ? 'No live variant' : 'Not started'}>
          {run.error.message}{' '}
          <span className="mute">
            {run.error.code}
            {run.error.requestId && ` · request ${run.error.requestId}`}
          </span>
        </Banner>
      )}
      <form className="form" onSubmit={submit} noValidate>
        <Panel title="What to run">
          <div className="form">
            <SegmentedControl
              aria-label="Kind of target"
              data={[
                { value: 'deployment', label: 'Deployment' },
                { value: 'workflow', label: 'Workflow' },
              ]}
              value={chosen}
              onChange={(value) => setChosen(value === 'workflow' ? 'workflow' : 'deployment')}
              w={220}
            />
            {chosen === 'deployment' ? (
              <>
                <Select
                  label="Deployment"
                  placeholder="Choose a deployment"
                  searchable
                  data={(targets.data?.deployments.nodes ?? []).map((each) => each.slug)}
                  value={url.deployment === '' ? null : url.deployment}
                  onChange={(deployment) => setUrl({ deployment: deployment ?? '', workflow: '' }, 'replace')}
                  error={checked && target === '' ? 'Choose a deployment.' : issue('deployment')}
                />
                <TextInput
                  label="Session key"
                  description="The same key gets the same variant. Without one, the variant is drawn by weight."
                  value={sessionKey}
                  onChange={(event) => setSessionKey(event.currentTarget.value)}
                  error={issue('sessionKey')}
                />
              </>
            ) : (
              <Select
                label="Workflow"
                placeholder="Choose a workflow"
                searchable
                data={(targets.data?.workflows.nodes ?? []).map((each) => each.ref)}
                value={url.workflow === '' ? null : url.workflow}
                onChange={(workflow) => setUrl({ workflow: workflow ?? '', deployment: '' }, 'replace')}
                error={checked && target === '' ? 'Choose a workflow.' : issue('workflow')}
              />
            )}
            <JsonInput
              label="Input"
              description="JSON, delivered to the worker."
              value={input}
              onChange={setInput}
              autosize
              minRows={5}
              maxRows={16}
              formatOnBlur
              spellCheck={false}
              error={(checked || input.trim() !== '') && !readInput.ok ? readInput.problem : issue('input')}
              styles={{ input: { fontFamily: 'var(--mono)', fontSize: 12 } }}
            />
          </div>
        </Panel>
        <Panel title="Where it may run" aside="all optional">
          <div className="form">
            <PasswordInput
              label="Routing input"
              description="JSON object, matched at dispatch, never delivered to the worker and never shown again. At most 4 KB."
              autoComplete="off"
              value={routingInput}
              onChange={(event) => setRoutingInput(event.currentTarget.value)}
              error={readRouting.ok ? issue('routingInput') : 'Not a JSON object.'}
              visibilityToggleButtonProps={{ 'aria-label': 'Show the routing input' }}
            />
            <div className="grid g2">
              <TextInput
                label="Preferred worker"
                description="A hint; ignored where it cannot take it."
                value={preferredWorker}
                onChange={(event) => setPreferredWorker(event.currentTarget.value)}
                error={issue('preferredWorker')}
              />
              <TextInput
                label="Required worker"
                description="A binding; parks where it cannot take it."
                value={requiredWorker}
                onChange={(event) => setRequiredWorker(event.currentTarget.value)}
                error={issue('requiredWorker')}
              />
              <NumberInput
                label="Park TTL, seconds"
                description="How long it may wait unassigned; 0 for ever."
                min={0}
                allowDecimal={false}
                hideControls
                value={parkTtl}
                onChange={setParkTtl}
                error={issue('parkTtlSeconds')}
              />
              <NumberInput
                label="Priority"
                description="−1,000 to 1,000; higher goes first."
                min={-1000}
                max={1000}
                allowDecimal={false}
                hideControls
                value={priority}
                onChange={setPriority}
                error={issue('priority')}
              />
            </div>
          </div>
        </Panel>
        <div className="form-actions">
          <Button type="submit" variant="filled" loading={run.isPending}>
            Start execution
          </Button>
          <Button onClick={() => follow(paths.executions())}>Cancel</Button>
        </div>
      </form>
    </>
  );
}
