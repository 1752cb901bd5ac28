import { Menu } from '@mantine/core';
import { IconDevicesOff, IconKeyboard, IconLogout } from '@tabler/icons-react';
import { useState } from 'react';
import { execute, toApiError } from '../api/client.ts';
import { graphql } from '../api/generated/gql.ts';
import { signOut } from '../api/session.ts';
import { useViewer } from '../api/viewer.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Glyph } from '../ui/icon.tsx';
import { showToast } from '../ui/toast.tsx';

const SignOutEverywhereDocument = graphql(`
  mutation SignOutEverywhere($input: RevokeLoginSessionsInput!) {
    revokeLoginSessions(input: $input) {
      count
    }
  }
`);

export function ViewerMenu({ onShowKeys }: { onShowKeys: () => void }) {
  const viewer = useViewer();
  const [asking, setAsking] = useState(false);
  const name = viewer?.name ?? 'you';
  return (
    <>
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <button
            type="button"
            className="icon-button"
            aria-label={`${name.slice(0, 2).toUpperCase()}, signed in as ${name}`}
          >
            <span className="avatar" aria-hidden>
              {name.slice(0, 2).toUpperCase()}
            </span>
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            {name}
            {viewer && viewer.roles.length > 0 ? ` · ${viewer.roles.join(', ')}` : ''}
          </Menu.Label>
          <Menu.Item leftSection={<Glyph icon={IconKeyboard} />} onClick={onShowKeys}>
            Keyboard shortcuts
          </Menu.Item>
          <Menu.Item leftSection={<Glyph icon={IconLogout} />} onClick={() => void signOut()}>
            Sign out
          </Menu.Item>
          {viewer && (
            <Menu.Item leftSection={<Glyph icon={IconDevicesOff} />} onClick={() => setAsking(true)}>
              Sign out everywhere
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {asking && viewer && <SignOutEverywhere name={viewer.name} onClose={() => setAsking(false)} />}
    </>
  );
}

function SignOutEverywhere({ name, onClose }: { name: string; onClose: () => void }) {
  const [pending, setPending] = useState(false);
  const confirm = async (): Promise<void> => {
    setPending(true);
    try {
      await execute(SignOutEverywhereDocument, { input: { principal: name } });
      await signOut();
    } catch (error) {
      showToast({ message: toApiError(error).message });
    }
    onClose();
  };
  return (
    <Confirm
      title="Sign out everywhere"
      verb="Sign out everywhere"
      pending={pending}
      onConfirm={() => void confirm()}
      onCancel={onClose}
    >
      <p>Every browser that is signed in as {name} is signed out, this one too. API tokens stay valid.</p>
    </Confirm>
  );
}
