import { Select, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { fieldIssue, unplaced } from '../../api/issues.ts';
import { serverNow } from '../../api/server-clock.ts';
import { usePermission } from '../../api/viewer.ts';
import { neededText } from '../../ui/permitted.tsx';
import { CreateApiTokenDocument } from './access-queries.ts';
import { FormDialog } from './form-dialog.tsx';
import { PermissionField } from './permission-field.tsx';
import { readPermissions } from './permission-text.ts';

const DAY_MS = 86_400_000;

/** Makes an API token. The secret goes to `onMade` alone: what a mutation returns would stay in its cache. */
export function TokenDialog({
  principal: whose,
  onMade,
  onClose,
}: {
  /** For whom, where the list shows one principal. */
  principal: string;
  onMade: (secret: string) => void;
  onClose: () => void;
}) {
  const others = usePermission('admin:tokens:write');
  const [name, setName] = useState('');
  const [principal, setPrincipal] = useState(others.allowed ? whose : '');
  const [days, setDays] = useState('90');
  const [text, setText] = useState('');
  const { permissions, problems } = readPermissions(text);
  const create = useMutation<void, ApiError>({
    mutationFn: async () => {
      const { createApiToken } = await execute(CreateApiTokenDocument, {
        input: {
          name: name.trim(),
          scopes: permissions,
          ...(principal.trim() !== '' && { principal: principal.trim() }),
          ...(days !== 'never' && { expiresAt: new Date(serverNow() + Number(days) * DAY_MS).toISOString() }),
        },
      });
      onMade(createApiToken.secret);
    },
  });
  return (
    <FormDialog
      title="Create an API token"
      verb="Create token"
      failed="Not created"
      error={unplaced(create.error, ['name', 'principal', 'scopes', 'expiresAt'])}
      pending={create.isPending}
      onSubmit={() => problems.length === 0 && create.mutate()}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="What it is for."
        data-autofocus
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldIssue(create.error, 'name')}
      />
      <TextInput
        label="Principal"
        description={others.allowed ? 'Whose it is. Empty: your own.' : `Your own. For others: ${neededText(others)}.`}
        readOnly={!others.allowed}
        autoComplete="off"
        value={principal}
        onChange={(event) => setPrincipal(event.currentTarget.value)}
        error={fieldIssue(create.error, 'principal')}
      />
      <Select
        label="Expires"
        allowDeselect={false}
        data={[
          { value: '1', label: 'in 1 day' },
          { value: '7', label: 'in 7 days' },
          { value: '30', label: 'in 30 days' },
          { value: '90', label: 'in 90 days' },
          { value: '365', label: 'in 365 days' },
          { value: 'never', label: 'never, until it is revoked' },
        ]}
        value={days}
        onChange={(value) => setDays(value ?? '90')}
        error={fieldIssue(create.error, 'expiresAt')}
      />
      <PermissionField
        label="Narrowed to"
        description="Permissions, one a line, e.g. deployment:chat:run. Empty: all that its principal may."
        value={text}
        onChange={setText}
        problem={fieldIssue(create.error, 'scopes')}
      />
    </FormDialog>
  );
}
