import { PasswordInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { fieldIssue, unplaced } from '../../api/issues.ts';
import { showToast } from '../../ui/toast.tsx';
import { ChangeOwnPasswordDocument } from './access-queries.ts';
import { FormDialog } from './form-dialog.tsx';

/** One's own password; one's other sessions end. */
export function OwnPasswordDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const change = useMutation<unknown, ApiError>({
    mutationFn: () => execute(ChangeOwnPasswordDocument, { input: { current, password } }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['login-sessions'] });
      showToast({ message: 'Password changed; your other sessions have ended' });
      onClose();
    },
  });
  return (
    <FormDialog
      title="Change your password"
      verb="Change password"
      failed="Not changed"
      error={unplaced(change.error, ['current', 'password'])}
      pending={change.isPending}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <PasswordInput
        label="Present password"
        data-autofocus
        autoComplete="current-password"
        value={current}
        onChange={(event) => setCurrent(event.currentTarget.value)}
        error={fieldIssue(change.error, 'current')}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the present password' }}
      />
      <PasswordInput
        label="New password"
        description="12 to 128 characters."
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={fieldIssue(change.error, 'password')}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the new password' }}
      />
    </FormDialog>
  );
}
