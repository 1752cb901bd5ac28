import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { Banner } from '../../ui/banner.tsx';
import { Dot } from '../../ui/layout.tsx';
import { type Resolved, ResolveDeploymentDocument } from './deployment-queries.ts';
import { listOf } from './shares.ts';

/** Which variant a session would get now. Asks the API; nothing runs. */
export function TestSession({ slug, onClose }: { slug: string; onClose: () => void }) {
  const [sessionKey, setSessionKey] = useState('');
  const test = useMutation<Resolved, ApiError, string>({
    mutationFn: async (key) =>
      (await execute(ResolveDeploymentDocument, { slug, sessionKey: key === '' ? null : key })).resolveDeployment,
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    test.mutate(sessionKey);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title="Test a session"
      size="lg"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit}>
        <div className="tools" style={{ alignItems: 'flex-end' }}>
          <TextInput
            className="grow"
            label="Session key"
            data-autofocus
            value={sessionKey}
            onChange={(event) => setSessionKey(event.currentTarget.value)}
          />
          <Button type="submit" variant="filled" loading={test.isPending}>
            Test
          </Button>
        </div>
      </form>
      <p className="mute small">
        The same key always gets the same variant while that is live. An empty key draws by weight.
      </p>
      <div role="status" className="mt">
        {test.data && <Answer resolved={test.data} sessionKey={test.variables ?? ''} />}
      </div>
      {test.error && (
        <Banner tone="bad" title={test.error.code === 'NO_HEALTHY_VARIANT' ? 'No live variant' : 'Could not be tested'}>
          {test.error.message} <span className="mute">{test.error.code}</span>
        </Banner>
      )}
    </Modal>
  );
}

function Answer({ resolved, sessionKey }: { resolved: Resolved; sessionKey: string }) {
  return (
    <>
      <p style={{ fontSize: 16, lineHeight: '24px', fontWeight: 500 }}>
        {sessionKey === '' ? 'This draw gives' : `${sessionKey} gets`} {resolved.variant.label}.
      </p>
      <p className="mute">
        {resolved.variant.flowId}
        {resolved.version && ` v${resolved.version.number}`}
        <Dot />
        {resolved.variant.targetRoles.length === 0 ? 'any role' : listOf(resolved.variant.targetRoles, 'or')}
        <Dot />
        {resolved.sticky ? 'the session key decided' : 'drawn by weight'}
      </p>
      {resolved.skippedVariants.length > 0 && (
        <ul className="diff">
          {resolved.skippedVariants.map((skipped) => (
            <li key={skipped.label}>
              <b className="strong">{skipped.label}</b>{' '}
              {skipped.reason === 'ROLES_DEAD'
                ? `was left out: no healthy worker has ${listOf(skipped.deadRoles, 'or')}.`
                : 'was left out: its weight is 0.'}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
