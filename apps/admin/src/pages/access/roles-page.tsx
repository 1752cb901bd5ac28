import { Menu } from '@mantine/core';
import { IconDots, IconEye, IconPencil, IconPlus, IconTrash, IconUsers } from '@tabler/icons-react';
import { usePermission } from '../../api/viewer.ts';
import { count, plural } from '../../format.ts';
import { useUrlState } from '../../hooks/use-url-state.ts';
import { paths } from '../../paths.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor, useFollow } from '../../ui/anchor.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Scroll } from '../../ui/layout.tsx';
import { type Need, PermittedButton, PermittedItem } from '../../ui/permitted.tsx';
import { TableFoot } from '../../ui/table.tsx';
import { ErrorView, SkeletonRows } from '../../ui/view-states.tsx';
import { text } from '../../url-state.ts';
import { AccessHead } from './access-head.tsx';
import type { RoleRow } from './access-queries.ts';
import { RoleDialogs } from './role-dialogs.tsx';
import { useAccessRoles } from './use-access-roles.ts';

const SHAPE = { dialog: text() };

/** How many permissions a row names; the dialog names all. */
const NAMED = 4;

/** Roles: the built-in ones, and those that were made here. */
export function RolesPage() {
  const [state, set] = useUrlState(SHAPE);
  const need = usePermission('admin:roles:write');
  const query = useAccessRoles();
  const roles = query.data?.accessRoles;
  return (
    <>
      <AccessHead
        current="roles"
        title="Roles"
        total={roles ? count(roles.length) : null}
        meta="Named sets of permissions. The built-in ones cannot be changed."
        actions={
          <PermittedButton
            need={need}
            variant="filled"
            leftSection={<Glyph icon={IconPlus} />}
            onClick={() => set({ dialog: 'create' })}
          >
            Create role
          </PermittedButton>
        }
      />
      <div className="panel">
        {query.isPending ? (
          <SkeletonRows label="roles" />
        ) : query.isError ? (
          <ErrorView what="Roles could not be read" failure={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <>
            <Rows rows={query.data.accessRoles} need={need} onDialog={(dialog) => set({ dialog })} />
            <TableFoot>{plural(query.data.accessRoles.length, 'role')}</TableFoot>
          </>
        )}
      </div>
      {roles && <RoleDialogs dialog={state.dialog} roles={roles} onClose={() => set({ dialog: '' }, 'replace')} />}
    </>
  );
}

function Rows({ rows, need, onDialog }: { rows: readonly RoleRow[]; need: Need; onDialog: (dialog: string) => void }) {
  return (
    <Scroll label="Roles, table">
      <table className="tb">
        <caption className="sr">{rows.length} roles</caption>
        <thead>
          <tr>
            <th scope="col" className="pin">
              Role
            </th>
            <th scope="col">Permissions</th>
            <th scope="col">Description</th>
            <th scope="col" className="r">
              Principals
            </th>
            <th scope="col" className="r">
              Changed
            </th>
            <th scope="col">
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row" className="pin">
                <span className="name-cell strong" title={row.name}>
                  {row.name}
                </span>
              </th>
              <td className="wrap">
                <PermissionList permissions={row.permissions} />
              </td>
              <td className="wrap narrow">{row.description || <span className="mute">–</span>}</td>
              <td className="r">
                {row.principalCount === 0 ? (
                  <span className="mute">0</span>
                ) : (
                  <Anchor className="l" href={paths.principals({ role: row.name })}>
                    {count(row.principalCount)}
                  </Anchor>
                )}
              </td>
              <td className="r mute">
                {row.builtIn ? (
                  'built in'
                ) : (
                  <>
                    <Ago at={row.updatedAt} suffix />
                    {row.updatedBy && ` · ${row.updatedBy}`}
                  </>
                )}
              </td>
              <td className="r">
                <RoleMenu row={row} need={need} onDialog={onDialog} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function PermissionList({ permissions }: { permissions: readonly string[] }) {
  if (permissions.length === 0) return <span className="mute">none</span>;
  return (
    <span className="permissions">
      {permissions.slice(0, NAMED).map((permission) => (
        <code key={permission}>{permission}</code>
      ))}
      {permissions.length > NAMED && <span className="mute">and {permissions.length - NAMED} more</span>}
    </span>
  );
}

function RoleMenu({ row, need, onDialog }: { row: RoleRow; need: Need; onDialog: (dialog: string) => void }) {
  const follow = useFollow();
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <button type="button" className="icon-button dense" aria-label={`Actions for role ${row.name}`}>
          <Glyph icon={IconDots} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Glyph icon={IconEye} />} onClick={() => onDialog(`show:${row.name}`)}>
          Show permissions
        </Menu.Item>
        <Menu.Item
          leftSection={<Glyph icon={IconUsers} />}
          onClick={() => follow(paths.principals({ role: row.name }))}
        >
          Who has it
        </Menu.Item>
        {!row.builtIn && (
          <>
            <Menu.Divider />
            <PermittedItem
              need={need}
              leftSection={<Glyph icon={IconPencil} />}
              onClick={() => onDialog(`edit:${row.name}`)}
            >
              Edit…
            </PermittedItem>
            <PermittedItem
              need={need}
              leftSection={<Glyph icon={IconTrash} />}
              onClick={() => onDialog(`delete:${row.name}`)}
            >
              Delete…
            </PermittedItem>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
