import { Button, JsonInput, NumberInput, PasswordInput, SegmentedControl, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { RunTargetsQuery } from '../../api/generated/graphql.ts';
import { usePermission, workflowPermission } from '../../api/viewer.ts';
import { usePage } from '../../hooks/use-page.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { paths } from '../../paths.ts';
import { useFollow } from '../../ui/anchor.tsx';
import { Banner } from '../../ui/banner.tsx';
import { PageHead, Panel } from '../../ui/layout.tsx';
import { PermittedButton } from '../../ui/permitted.tsx';
import { text } from '../../url-state.ts';
import { TargetsDocument } from './execution-queries.ts';
import { type StartTarget, useStartForm } from './start-form.ts';

const SHAPE = { deployment: text(), workflow: text() };

type Form = ReturnType<typeof useStartForm>;

/** Start one execution, of a deployment (which picks the variant) or of a workflow. */
export function ExecutionNewPage() {
  usePage([{ name: 'Executions', href: paths.executions() }, { name: 'Start an execution' }]);
  const [url, setUrl] = useUrlState(SHAPE);
  const follow = useFollow();
  const [kind, setKind] = useState<StartTarget['kind']>(url.workflow === '' ? 'deployment' : 'workflow');
  const need = usePermission(
    kind === 'deployment'
      ? `deployment:${url.deployment === '' ? '{slug}' : url.deployment}:run`
      : workflowPermission(url.workflow === '' ? '{namespace}/{name}' : url.workflow, 'run'),
  );
  const form = useStartForm({ kind, name: url[kind] }, (id) => follow(paths.execution(id)));
  return (
    <>
      <PageHead title="Start an execution" meta="It runs for real. The Why is on the page that opens." />
      {form.error && (
        <Banner tone="bad" title={form.error.code === 'NO_HEALTHY_VARIANT' ? 'No live variant' : 'Not started'}>
          {form.error.message}{' '}
          <span className="mute">
            {form.error.code}
            {form.error.requestId && ` · request ${form.error.requestId}`}
          </span>
        </Banner>
      )}
      <form
        className="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          form.submit();
        }}
      >
        <Panel title="What to run">
          <div className="form">
            <SegmentedControl
              aria-label="Kind of target"
              data={[
                { value: 'deployment', label: 'Deployment' },
                { value: 'workflow', label: 'Workflow' },
              ]}
              value={kind}
              onChange={(value) => setKind(value === 'workflow' ? 'workflow' : 'deployment')}
              w={220}
            />
            <Target
              kind={kind}
              value={url[kind]}
              problem={form.targetProblem}
              onChange={(name) => setUrl({ deployment: '', workflow: '', [kind]: name }, 'replace')}
            />
            {kind === 'deployment' && (
              <TextInput
                label="Session key"
                description="The same key gets the same variant. Without one, the variant is drawn by weight."
                value={form.values.sessionKey}
                onChange={(event) => form.set({ sessionKey: event.currentTarget.value })}
                error={form.issue('sessionKey')}
              />
            )}
            <JsonInput
              label="Input"
              description="JSON, delivered to the worker."
              value={form.values.input}
              onChange={(input) => form.set({ input })}
              autosize
              minRows={5}
              maxRows={16}
              formatOnBlur
              spellCheck={false}
              error={form.inputProblem}
              styles={{ input: { fontFamily: 'var(--mono)', fontSize: 12 } }}
            />
          </div>
        </Panel>
        <Where form={form} />
        <div className="form-actions">
          <PermittedButton need={need} type="submit" variant="filled" loading={form.pending}>
            Start execution
          </PermittedButton>
          <Button onClick={() => follow(paths.executions())}>Cancel</Button>
        </div>
      </form>
    </>
  );
}

function Target({
  kind,
  value,
  problem,
  onChange,
}: {
  kind: StartTarget['kind'];
  value: string;
  problem: string | null;
  onChange: (name: string) => void;
}) {
  const { data, error } = useQuery<RunTargetsQuery, ApiError>({
    queryKey: ['run-targets'],
    queryFn: ({ signal }) => execute(TargetsDocument, {}, { signal }),
  });
  const known =
    kind === 'deployment'
      ? (data?.deployments.nodes ?? []).map((each) => each.slug)
      : (data?.workflows.nodes ?? []).map((each) => each.ref);
  return (
    <Select
      label={kind === 'deployment' ? 'Deployment' : 'Workflow'}
      placeholder={`Choose a ${kind}`}
      searchable
      data={value === '' || known.includes(value) ? known : [value, ...known]}
      value={value === '' ? null : value}
      onChange={(name) => onChange(name ?? '')}
      error={problem ?? (error && `The ${kind}s could not be read: ${error.message} ${error.code}`)}
    />
  );
}

function Where({ form }: { form: Form }) {
  return (
    <Panel title="Where it may run" aside="all optional">
      <div className="form">
        <PasswordInput
          label="Routing input"
          description="JSON object, matched at dispatch, never delivered to the worker and never shown again. At most 4 KB."
          autoComplete="off"
          value={form.values.routingInput}
          onChange={(event) => form.set({ routingInput: event.currentTarget.value })}
          error={form.routingProblem}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the routing input' }}
        />
        <div className="grid g2">
          <TextInput
            label="Preferred worker"
            description="A hint; ignored where it cannot take it."
            value={form.values.preferredWorker}
            onChange={(event) => form.set({ preferredWorker: event.currentTarget.value })}
            error={form.issue('preferredWorker')}
          />
          <TextInput
            label="Required worker"
            description="A binding; parks where it cannot take it."
            value={form.values.requiredWorker}
            onChange={(event) => form.set({ requiredWorker: event.currentTarget.value })}
            error={form.issue('requiredWorker')}
          />
          <NumberInput
            label="Park TTL, seconds"
            description="How long it may wait unassigned; 0 for ever."
            min={0}
            allowDecimal={false}
            hideControls
            value={form.values.parkTtlSeconds}
            onChange={(parkTtlSeconds) => form.set({ parkTtlSeconds })}
            error={form.issue('parkTtlSeconds')}
          />
          <NumberInput
            label="Priority"
            description="−1,000 to 1,000; higher goes first."
            min={-1000}
            max={1000}
            allowDecimal={false}
            hideControls
            value={form.values.priority}
            onChange={(priority) => form.set({ priority })}
            error={form.issue('priority')}
          />
        </div>
      </div>
    </Panel>
  );
}
