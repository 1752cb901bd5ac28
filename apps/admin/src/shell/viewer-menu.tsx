import { Menu } from '@mantine/core';
import { IconKeyboard, IconLogout } from '@tabler/icons-react';
import { signOut } from '../api/session.ts';
import { useViewer } from '../api/viewer.ts';
import { Glyph } from '../ui/icon.tsx';

export function ViewerMenu({ onShowKeys }: { onShowKeys: () => void }) {
  const viewer = useViewer();
  const name = viewer?.name ?? 'you';
  return (
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
      </Menu.Dropdown>
    </Menu>
  );
}
