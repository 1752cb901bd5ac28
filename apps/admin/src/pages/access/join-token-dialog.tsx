import { Select, TagsInput, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { fieldIssue, unplaced } from '../../api/issues.ts';
import { CreateJoinTokenDocument } from './access-queries.ts';
import { FormDialog } from './form-dialog.tsx';
import { readLabels } from './join-token-input.ts';

const FIELDS = ['description', 'ttlSeconds', 'worker', 'role', 'labels', 'services', 'registers'];

/** What starts a worker that joins; `$SECRET` is the token. In the environment it shows in no list of processes. */
export function joinCommand(worker: string): string {
  const name = worker === '' ? 'w-1' : worker;
  return `MUSTER_SERVER=${location.origin} MUSTER_JOIN_TOKEN=$SECRET npx muster worker start ./workflows.ts --name ${name}`;
}

/** Makes a join token. The secret goes to `onMade` alone: what a mutation returns would stay in its cache. */
export function JoinTokenDialog({
  worker: whose,
  onMade,
  onClose,
}: {
  /** The worker that the list shows, if any. */
  worker: string;
  onMade: (secret: string, worker: string) => void;
  onClose: () => void;
}) {
  const [worker, setWorker] = useState(whose);
  const [role, setRole] = useState('');
  const [description, setDescription] = useState('');
  const [ttl, setTtl] = useState('3600');
  const [labelTexts, setLabelTexts] = useState<string[]>([]);
  const [services, setServices] = useState<string[]>([]);
  const [registers, setRegisters] = useState<string[]>([]);
  const { labels, problem } = readLabels(labelTexts);
  const create = useMutation<void, ApiError>({
    mutationFn: async () => {
      const { createJoinToken } = await execute(CreateJoinTokenDocument, {
        input: {
          ttlSeconds: Number(ttl),
          labels,
          services,
          registers,
          ...(worker.trim() !== '' && { worker: worker.trim() }),
          ...(role.trim() !== '' && { role: role.trim() }),
          ...(description !== '' && { description }),
        },
      });
      onMade(createJoinToken.secret, worker.trim());
    },
  });
  const issue = (field: string): string | null => fieldIssue(create.error, field);
  return (
    <FormDialog
      title="Create a join token"
      verb="Create join token"
      failed="Not created"
      error={unplaced(create.error, FIELDS)}
      pending={create.isPending}
      onSubmit={() => problem === null && create.mutate()}
      onClose={onClose}
    >
      <div className="grid g2">
        <TextInput
          label="Worker"
          description="The one name that it is for. Empty: any name that no worker has."
          data-autofocus
          autoComplete="off"
          value={worker}
          onChange={(event) => setWorker(event.currentTarget.value)}
          error={issue('worker')}
        />
        <TextInput
          label="Role"
          description="Empty: any."
          autoComplete="off"
          value={role}
          onChange={(event) => setRole(event.currentTarget.value)}
          error={issue('role')}
        />
      </div>
      <Select
        label="Good for"
        allowDeselect={false}
        data={[
          { value: '600', label: '10 minutes' },
          { value: '3600', label: '1 hour' },
          { value: '86400', label: '1 day' },
          { value: '604800', label: '7 days' },
          { value: '2592000', label: '30 days' },
        ]}
        value={ttl}
        onChange={(value) => setTtl(value ?? '3600')}
        error={issue('ttlSeconds')}
      />
      <TagsInput
        label="Labels"
        description="key=value, Enter after each. They are then all of its labels; empty: those that it says itself."
        value={labelTexts}
        onChange={setLabelTexts}
        error={problem ?? issue('labels')}
      />
      <TagsInput
        label="Services"
        description="What it is granted to serve, as labels flux.service.<name>."
        value={services}
        onChange={setServices}
        error={issue('services')}
      />
      <TagsInput
        label="May register"
        description="Workflows as namespace:name, with * for any of either."
        value={registers}
        onChange={setRegisters}
        error={issue('registers')}
      />
      <TextInput
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
        error={issue('description')}
      />
    </FormDialog>
  );
}
