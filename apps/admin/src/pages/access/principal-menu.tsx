import { Menu } from '@mantine/core';
import {
  IconCircleCheck,
  IconCircleMinus,
  IconDeviceDesktop,
  IconDots,
  IconKey,
  IconPassword,
  IconTrash,
  IconUserEdit,
} from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ApiError, execute } from '../../api/client.ts';
import { paths } from '../../paths.ts';
import { useFollow } from '../../ui/anchor.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { type Need, PermittedItem } from '../../ui/permitted.tsx';
import { showToast } from '../../ui/toast.tsx';
import { type PrincipalRow, UpdatePrincipalDocument } from './access-queries.ts';

/** "⋯" of one principal. Disabling happens at once and can be undone; the rest asks or opens a form. */
export function PrincipalMenu({
  row,
  need,
  onDialog,
}: {
  row: PrincipalRow;
  need: Need;
  onDialog: (dialog: string) => void;
}) {
  const follow = useFollow();
  const toggle = useDisabling(row);
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <button type="button" className="icon-button dense" aria-label={`Actions for ${row.name}`}>
          <Glyph icon={IconDots} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<Glyph icon={IconKey} />}
          onClick={() => follow(paths.apiTokens({ principal: row.name }))}
        >
          Its API tokens
        </Menu.Item>
        <Menu.Item
          leftSection={<Glyph icon={IconDeviceDesktop} />}
          onClick={() => follow(paths.sessions({ principal: row.name }))}
        >
          Its sessions
        </Menu.Item>
        <Menu.Divider />
        <PermittedItem
          need={need}
          leftSection={<Glyph icon={IconUserEdit} />}
          onClick={() => onDialog(`edit:${row.name}`)}
        >
          Edit roles…
        </PermittedItem>
        {row.kind === 'USER' && (
          <PermittedItem
            need={need}
            leftSection={<Glyph icon={IconPassword} />}
            onClick={() => onDialog(`password:${row.name}`)}
          >
            Set password…
          </PermittedItem>
        )}
        <PermittedItem
          need={need}
          leftSection={<Glyph icon={row.disabled ? IconCircleCheck : IconCircleMinus} />}
          onClick={() => toggle(!row.disabled, row.revision)}
        >
          {row.disabled ? 'Enable' : 'Disable'}
        </PermittedItem>
        <PermittedItem
          need={need}
          leftSection={<Glyph icon={IconTrash} />}
          onClick={() => onDialog(`delete:${row.name}`)}
        >
          Delete…
        </PermittedItem>
      </Menu.Dropdown>
    </Menu>
  );
}

function useDisabling({ name }: PrincipalRow): (disabled: boolean, revision: number) => void {
  const client = useQueryClient();
  const update = useMutation<number, ApiError, { disabled: boolean; revision: number }>({
    mutationFn: async ({ disabled, revision }) =>
      (await execute(UpdatePrincipalDocument, { input: { name, disabled, expectedRevision: revision } }))
        .updatePrincipal.principal.revision,
    onSuccess: (revision, { disabled }) => {
      showToast({
        message: disabled ? `${name} disabled: its tokens and sessions no longer work` : `${name} enabled`,
        undo: () => update.mutate({ disabled: !disabled, revision }),
      });
    },
    onError: (error) => showToast({ message: error.message }),
    onSettled: () => client.invalidateQueries({ queryKey: ['principals'] }),
  });
  return (disabled, revision) => update.mutate({ disabled, revision });
}
