import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { currentOf } from '../../api/conflict.ts';
import { fieldIssue, unplaced } from '../../api/issues.ts';
import { plural } from '../../format.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { ConflictDialog } from '../../ui/conflict-dialog.tsx';
import { showToast } from '../../ui/toast.tsx';
import {
  CreateAccessRoleDocument,
  DeleteAccessRoleDocument,
  type RoleRow,
  UpdateAccessRoleDocument,
} from './access-queries.ts';
import { dialogOf } from './dialog-state.ts';
import { FormDialog } from './form-dialog.tsx';
import { PermissionField } from './permission-field.tsx';
import { readPermissions } from './permission-text.ts';

/** The dialogs of the roles; which one is open stands in the address. */
export function RoleDialogs({
  dialog,
  roles,
  onClose,
}: {
  dialog: string;
  roles: readonly RoleRow[];
  onClose: () => void;
}) {
  const { verb, name } = dialogOf(dialog, ['create', 'show', 'edit', 'delete']);
  const role = roles.find((each) => each.name === name);
  if (verb === 'create') return <CreateDialog onClose={onClose} />;
  if (!role) return null;
  if (verb === 'delete' && !role.builtIn) return <DeleteDialog role={role} onClose={onClose} />;
  if (verb === 'edit' && !role.builtIn) return <EditDialog key={name} role={role} onClose={onClose} />;
  return <ShowDialog role={role} onClose={onClose} />;
}

function useDone(onClose: () => void): (message: string) => void {
  const client = useQueryClient();
  return (message) => {
    void client.invalidateQueries({ queryKey: ['access-roles'] });
    // One's own permissions may be among those that have changed.
    void client.invalidateQueries({ queryKey: ['viewer'] });
    showToast({ message });
    onClose();
  };
}

const HELP = 'One a line, as kind:name:verb, e.g. deployment:chat:write. * stands for any part, or for the rest.';

function ShowDialog({ role, onClose }: { role: RoleRow; onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Role ${role.name}`}
      size="lg"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <p className="mute">
        {role.builtIn ? 'Built in: nobody can change it.' : role.description || 'Without a description.'} Had by{' '}
        {plural(role.principalCount, 'principal')}.
      </p>
      <ul className="permission-lines mono" aria-label="Permissions">
        {role.permissions.length === 0 && <li>none: its credentials alone say what it may</li>}
        {role.permissions.map((permission) => (
          <li key={permission}>{permission}</li>
        ))}
      </ul>
      <div className="dialog-actions">
        <Button data-autofocus onClick={onClose}>
          Close
        </Button>
      </div>
    </Modal>
  );
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const done = useDone(onClose);
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [text, setText] = useState('');
  const { permissions, problems } = readPermissions(text);
  const create = useMutation<unknown, ApiError>({
    mutationFn: () =>
      execute(CreateAccessRoleDocument, {
        input: { name: name.trim(), permissions, ...(description !== '' && { description }) },
      }),
    onSuccess: () => done(`Role ${name.trim()} created`),
  });
  return (
    <FormDialog
      title="Create a role"
      verb="Create role"
      failed="Not created"
      error={unplaced(create.error, ['name', 'description', 'permissions'])}
      pending={create.isPending}
      onSubmit={() => problems.length === 0 && create.mutate()}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="Letters, digits, . _ and -; it cannot be changed later."
        data-autofocus
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldIssue(create.error, 'name')}
      />
      <TextInput
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
        error={fieldIssue(create.error, 'description')}
      />
      <PermissionField
        label="Permissions"
        description={HELP}
        value={text}
        onChange={setText}
        problem={fieldIssue(create.error, 'permissions')}
      />
    </FormDialog>
  );
}

function differences(from: RoleRow, to: { description: string; permissions: readonly string[] }) {
  const changes = [];
  const added = to.permissions.filter((each) => !from.permissions.includes(each));
  const removed = from.permissions.filter((each) => !to.permissions.includes(each));
  if ((from.description ?? '') !== to.description) {
    changes.push({ subject: 'description', what: '', from: from.description || 'none', to: to.description || 'none' });
  }
  if (added.length + removed.length > 0) {
    changes.push({
      subject: 'permissions',
      what: '',
      from: removed.join(', ') || 'none less',
      to: added.join(', ') || 'none more',
    });
  }
  return changes;
}

function EditDialog({ role, onClose }: { role: RoleRow; onClose: () => void }) {
  const client = useQueryClient();
  const done = useDone(onClose);
  const [base, setBase] = useState(role);
  const [description, setDescription] = useState(role.description ?? '');
  const [text, setText] = useState(role.permissions.join('\n'));
  const { permissions, problems } = readPermissions(text);
  const save = useMutation<unknown, ApiError, number>({
    mutationFn: (expectedRevision) =>
      execute(UpdateAccessRoleDocument, { input: { name: role.name, description, permissions, expectedRevision } }),
    onSuccess: () => done(`Role ${role.name} saved`),
    onError: async (error) => {
      if (currentOf(error) !== null) await client.invalidateQueries({ queryKey: ['access-roles'] });
    },
  });
  const conflict = currentOf(save.error);
  if (conflict) {
    return (
      <ConflictDialog
        current={{ ...conflict, updatedBy: role.updatedBy ?? null, updatedAt: role.updatedAt }}
        theirs={differences(base, { description: role.description ?? '', permissions: role.permissions })}
        yours={differences(base, { description, permissions })}
        pending={save.isPending}
        onTake={() => {
          setBase(role);
          setDescription(role.description ?? '');
          setText(role.permissions.join('\n'));
          save.reset();
        }}
        onKeep={() => save.mutate(conflict.revision)}
        onClose={() => save.reset()}
      />
    );
  }
  return (
    <FormDialog
      title={`Edit role ${role.name}`}
      verb="Save role"
      failed="Not saved"
      error={unplaced(save.error, ['description', 'permissions'])}
      pending={save.isPending}
      onSubmit={() => problems.length === 0 && save.mutate(base.revision)}
      onClose={onClose}
    >
      <TextInput
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
        error={fieldIssue(save.error, 'description')}
      />
      <PermissionField
        label="Permissions"
        description={HELP}
        value={text}
        onChange={setText}
        problem={fieldIssue(save.error, 'permissions')}
      />
      {role.principalCount > 0 && (
        <p className="small mute">{plural(role.principalCount, 'principal')} may at once what stands here.</p>
      )}
    </FormDialog>
  );
}

function DeleteDialog({ role, onClose }: { role: RoleRow; onClose: () => void }) {
  const done = useDone(onClose);
  const removal = useMutation<unknown, ApiError>({
    mutationFn: () => execute(DeleteAccessRoleDocument, { input: { name: role.name } }),
    onSuccess: () => done(`Role ${role.name} deleted`),
    onError: (error) => {
      onClose();
      showToast({ message: error.message });
    },
  });
  return (
    <Confirm
      title={`Delete role ${role.name}?`}
      verb={`Delete ${role.name}`}
      danger
      pending={removal.isPending}
      onConfirm={() => removal.mutate()}
      onCancel={onClose}
    >
      <p>
        {role.principalCount === 0
          ? 'Nobody has it.'
          : `${plural(role.principalCount, 'principal has', 'principals have')} it; only a role that nobody has can be deleted.`}
      </p>
    </Confirm>
  );
}
