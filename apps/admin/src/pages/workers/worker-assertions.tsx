import { Button, Modal, TextInput } from '@mantine/core';
import { IconCpu, IconPlus, IconRuler2, IconUserEdit, IconX } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { usePermission } from '../../api/viewer.ts';
import { bytes } from '../../format.ts';
import { Ago } from '../../ui/ago.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Panel } from '../../ui/layout.tsx';
import { PermittedButton, PermittedIconButton } from '../../ui/permitted.tsx';
import { showToast } from '../../ui/toast.tsx';
import { SetMetadataDocument, UnsetMetadataDocument, type WorkerDetail } from './worker-queries.ts';

/** Labels, metadata and resources, each with who asserts it: that is what a policy may trust. */
export function WorkerAssertions({ worker }: { worker: WorkerDetail }) {
  return (
    <div className="grid g3 mb">
      <Panel
        title="Labels"
        aside={
          <span className="trust">
            <IconCpu size={14} aria-hidden />
            The worker says · fixed
          </span>
        }
      >
        {worker.labels.length === 0 ? (
          <p className="mute">No labels.</p>
        ) : (
          <dl className="kv">
            {worker.labels.map((label) => (
              <div key={label.key} style={{ display: 'contents' }}>
                <dt className="mono">{label.key}</dt>
                <dd className="mono">{label.value}</dd>
              </div>
            ))}
          </dl>
        )}
      </Panel>
      <Metadata worker={worker} />
      <Panel
        title="Resources"
        aside={
          <span className="trust">
            <IconRuler2 size={14} aria-hidden />
            Measured at registration
          </span>
        }
      >
        <Resources resources={worker.resources} />
      </Panel>
    </div>
  );
}

function Metadata({ worker }: { worker: WorkerDetail }) {
  const client = useQueryClient();
  const need = usePermission(`worker:${worker.name}:manage`);
  const [editing, setEditing] = useState(false);
  const removal = useMutation<unknown, ApiError, { key: string; value: unknown }>({
    mutationFn: ({ key }) => execute(UnsetMetadataDocument, { input: { worker: worker.name, keys: [key] } }),
    onSuccess: (_, { key, value }) => {
      void client.invalidateQueries({ queryKey: ['worker', worker.name] });
      showToast({
        message: `${key} removed`,
        undo: () =>
          void execute(SetMetadataDocument, { input: { worker: worker.name, metadata: { [key]: value } } }).then(() =>
            client.invalidateQueries({ queryKey: ['worker', worker.name] }),
          ),
      });
    },
    onError: (error) => showToast({ message: error.message }),
  });
  return (
    <Panel
      title="Metadata"
      aside={
        <span className="trust op">
          <IconUserEdit size={14} aria-hidden />
          Operators say
        </span>
      }
    >
      {worker.metadata.length === 0 ? (
        <p className="mute">Nothing is written. No worker can reach what stands here.</p>
      ) : (
        <dl className="kv">
          {worker.metadata.map((entry) => (
            <div key={entry.key} style={{ display: 'contents' }}>
              <dt className="mono">{entry.key}</dt>
              <dd>
                <span className="mono">{String(entry.value)}</span>{' '}
                <span className="mute">
                  · {entry.updatedBy}, <Ago at={entry.updatedAt} suffix />
                </span>
                <PermittedIconButton
                  need={need}
                  label={`Remove ${entry.key}`}
                  onClick={() => removal.mutate({ key: entry.key, value: entry.value })}
                >
                  <Glyph icon={IconX} size={14} />
                </PermittedIconButton>
              </dd>
            </div>
          ))}
        </dl>
      )}
      <PermittedButton
        need={need}
        mt={12}
        size="xs"
        leftSection={<Glyph icon={IconPlus} />}
        onClick={() => setEditing(true)}
      >
        Set metadata
      </PermittedButton>
      {editing && <MetadataDialog worker={worker.name} onClose={() => setEditing(false)} />}
    </Panel>
  );
}

function MetadataDialog({ worker, onClose }: { worker: string; onClose: () => void }) {
  const client = useQueryClient();
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const [missing, setMissing] = useState(false);
  const saving = useMutation<unknown, ApiError>({
    mutationFn: () => execute(SetMetadataDocument, { input: { worker, metadata: { [key.trim()]: typed(value) } } }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['worker', worker] });
      showToast({ message: `${key.trim()} set` });
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (key.trim() === '') setMissing(true);
    else saving.mutate();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Set metadata of ${worker}`}
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit} className="form">
        <TextInput
          label="Key"
          data-autofocus
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          error={missing && key.trim() === '' ? 'Name a key.' : null}
        />
        <TextInput
          label="Value"
          description="A number stays a number; everything else is text."
          value={value}
          onChange={(event) => setValue(event.currentTarget.value)}
          error={saving.error?.issues[0]?.message ?? saving.error?.message}
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="filled" loading={saving.isPending}>
            Set metadata
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function typed(value: string): string | number {
  const number = Number(value);
  return value.trim() !== '' && Number.isFinite(number) ? number : value;
}

function Resources({ resources }: { resources: WorkerDetail['resources'] }) {
  const rows: Array<[string, string]> = [];
  if (resources.cpuTotal != null) {
    rows.push([
      'CPU',
      free(resources.cpuAvailable, resources.cpuTotal, (n) => String(Math.round(n * 10) / 10), 'cores'),
    ]);
  }
  if (resources.memoryTotal != null)
    rows.push(['Memory', free(resources.memoryAvailable, resources.memoryTotal, bytes)]);
  if (resources.diskTotal != null) rows.push(['Disk', free(resources.diskFree, resources.diskTotal, bytes)]);
  for (const gpu of resources.gpus) {
    const memory = gpu.memoryTotal == null ? '' : ` · ${free(gpu.memoryAvailable, gpu.memoryTotal, bytes)}`;
    rows.push(['GPU', gpu.name + memory]);
  }
  if (rows.length === 0) return <p className="mute">This worker did not say.</p>;
  return (
    <dl className="kv">
      {rows.map(([name, value], index) => (
        // Two GPUs may be alike.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={`${name} ${index}`} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function free(available: number | null | undefined, total: number, write: (n: number) => string, unit = ''): string {
  const whole = `${write(total)}${unit === '' ? '' : ` ${unit}`}`;
  return available == null ? whole : `${write(available)} of ${whole} free`;
}
