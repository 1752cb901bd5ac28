import { PasswordInput, SegmentedControl, TagsInput, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { currentOf } from '../../api/conflict.ts';
import type { PrincipalKind, PrincipalQuery } from '../../api/generated/graphql.ts';
import { fieldIssue, unplaced } from '../../api/issues.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { ConflictDialog } from '../../ui/conflict-dialog.tsx';
import { showToast } from '../../ui/toast.tsx';
import {
  CreatePrincipalDocument,
  DeletePrincipalDocument,
  PrincipalDocument,
  SetPasswordDocument,
  UpdatePrincipalDocument,
} from './access-queries.ts';
import { dialogOf } from './dialog-state.ts';
import { FormDialog } from './form-dialog.tsx';
import { useAccessRoles } from './use-access-roles.ts';

/** The dialogs of the principals; which one is open stands in the address. */
export function PrincipalDialogs({ dialog, onClose }: { dialog: string; onClose: () => void }) {
  const { verb, name } = dialogOf(dialog, ['create', 'edit', 'password', 'delete']);
  switch (verb) {
    case 'create':
      return <CreateDialog onClose={onClose} />;
    case 'edit':
      return <EditLoader name={name} onClose={onClose} />;
    case 'password':
      return <PasswordDialog name={name} onClose={onClose} />;
    case 'delete':
      return <DeleteDialog name={name} onClose={onClose} />;
    case 'none':
      return null;
  }
}

/** What is done once something has changed: the lists are read again, the dialog goes. */
function useDone(onClose: () => void): (message: string) => void {
  const client = useQueryClient();
  return (message) => {
    void client.invalidateQueries({ queryKey: ['principals'] });
    void client.invalidateQueries({ queryKey: ['access-roles'] });
    showToast({ message });
    onClose();
  };
}

function RolesField({
  value,
  problem,
  onChange,
}: {
  value: string[];
  problem: string | null;
  onChange: (value: string[]) => void;
}) {
  const roles = useAccessRoles();
  return (
    <TagsInput
      label="Roles"
      description="What it may do is what all of them say together."
      data={(roles.data?.accessRoles ?? []).map((role) => role.name)}
      value={value}
      onChange={onChange}
      error={problem}
    />
  );
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const done = useDone(onClose);
  const [name, setName] = useState('');
  const [kind, setKind] = useState<PrincipalKind>('USER');
  const [roles, setRoles] = useState<string[]>([]);
  const [password, setPassword] = useState('');
  const create = useMutation<unknown, ApiError>({
    mutationFn: () =>
      execute(CreatePrincipalDocument, {
        input: { name: name.trim(), kind, roles, ...(kind === 'USER' && password !== '' && { password }) },
      }),
    onSuccess: () => done(`${name.trim()} created`),
  });
  return (
    <FormDialog
      title="Create a principal"
      verb="Create principal"
      failed="Not created"
      error={unplaced(create.error, ['name', 'roles', 'password'])}
      pending={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <SegmentedControl
        aria-label="Kind of principal"
        data={[
          { value: 'USER', label: 'Person' },
          { value: 'SERVICE', label: 'Service account' },
        ]}
        value={kind}
        onChange={(value) => setKind(value === 'SERVICE' ? 'SERVICE' : 'USER')}
        w={260}
      />
      <TextInput
        label="Name"
        description="Letters, digits, . _ - + and @; it cannot be changed later."
        data-autofocus
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={fieldIssue(create.error, 'name')}
      />
      <RolesField value={roles} onChange={setRoles} problem={fieldIssue(create.error, 'roles')} />
      {kind === 'USER' && (
        <PasswordInput
          label="Password"
          description="12 to 128 characters. Empty: it signs in with a token or through the identity provider."
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={fieldIssue(create.error, 'password')}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
        />
      )}
    </FormDialog>
  );
}

type Principal = NonNullable<PrincipalQuery['principal']>;

function EditLoader({ name, onClose }: { name: string; onClose: () => void }) {
  const query = useQuery<PrincipalQuery, ApiError>({
    queryKey: ['principals', 'one', name],
    queryFn: ({ signal }) => execute(PrincipalDocument, { name }, { signal }),
    staleTime: 0,
    gcTime: 0,
  });
  if (query.isPending) return null;
  const principal = query.data?.principal;
  if (principal) return <EditDialog key={name} principal={principal} onClose={onClose} />;
  return (
    <Confirm title={`${name} cannot be edited`} verb="Close" onConfirm={onClose} onCancel={onClose}>
      <p>{query.error?.message ?? 'Nobody of this name is known.'}</p>
    </Confirm>
  );
}

const listed = (roles: readonly string[]): string => roles.join(', ') || 'none';

function EditDialog({ principal, onClose }: { principal: Principal; onClose: () => void }) {
  const { name } = principal;
  const client = useQueryClient();
  const done = useDone(onClose);
  // What was opened stays what it is compared with, whatever is read meanwhile.
  const [base, setBase] = useState(principal);
  const [roles, setRoles] = useState<string[]>([...principal.roles]);
  const [theirs, setTheirs] = useState<readonly string[] | null>(null);
  const save = useMutation<unknown, ApiError, number>({
    mutationFn: (expectedRevision) => execute(UpdatePrincipalDocument, { input: { name, roles, expectedRevision } }),
    onSuccess: () => done(`Roles of ${name} saved`),
    onError: async (error) => {
      if (currentOf(error) === null) return;
      const fresh = await client.fetchQuery({
        queryKey: ['principals', 'theirs', name],
        queryFn: () => execute(PrincipalDocument, { name }),
        staleTime: 0,
        gcTime: 0,
      });
      setTheirs(fresh.principal?.roles ?? []);
    },
  });
  const conflict = currentOf(save.error);
  if (conflict) {
    const change = (to: readonly string[]) =>
      listed(to) === listed(base.roles)
        ? []
        : [{ subject: 'roles', what: '', from: listed(base.roles), to: listed(to) }];
    return (
      <ConflictDialog
        current={conflict}
        theirs={theirs === null ? [] : change(theirs)}
        yours={change(roles)}
        pending={save.isPending}
        onTake={() => {
          const next = [...(theirs ?? base.roles)];
          setBase({ ...base, roles: next, revision: conflict.revision });
          setRoles(next);
          save.reset();
        }}
        onKeep={() => save.mutate(conflict.revision)}
        onClose={() => save.reset()}
      />
    );
  }
  return (
    <FormDialog
      title={`Edit roles of ${name}`}
      verb="Save roles"
      failed="Not saved"
      error={unplaced(save.error, ['roles'])}
      pending={save.isPending}
      onSubmit={() => save.mutate(base.revision)}
      onClose={onClose}
    >
      <RolesField value={roles} onChange={setRoles} problem={fieldIssue(save.error, 'roles')} />
    </FormDialog>
  );
}

function PasswordDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const done = useDone(onClose);
  const [password, setPassword] = useState('');
  const save = useMutation<unknown, ApiError>({
    mutationFn: () => execute(SetPasswordDocument, { input: { name, password } }),
    onSuccess: () => done(`Password of ${name} set; its sessions have ended`),
  });
  return (
    <FormDialog
      title={`Set the password of ${name}`}
      verb="Set password"
      failed="Not set"
      error={unplaced(save.error, ['password'])}
      pending={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <PasswordInput
        label="Password"
        description="12 to 128 characters. All sessions of this person end."
        data-autofocus
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={fieldIssue(save.error, 'password')}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
      />
    </FormDialog>
  );
}

function DeleteDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const done = useDone(onClose);
  const removal = useMutation<unknown, ApiError>({
    mutationFn: () => execute(DeletePrincipalDocument, { input: { name } }),
    onSuccess: () => done(`${name} deleted`),
    onError: (error) => {
      onClose();
      showToast({ message: error.message });
    },
  });
  return (
    <Confirm
      title={`Delete ${name}?`}
      verb={`Delete ${name}`}
      danger
      pending={removal.isPending}
      onConfirm={() => removal.mutate()}
      onCancel={onClose}
    >
      <p>Its API tokens and sessions end with it, at once. The audit keeps its name.</p>
    </Confirm>
  );
}
