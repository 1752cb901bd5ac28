import type { ReactNode } from 'react';
import { usePermission } from '../../api/viewer.ts';
import { usePage } from '../../hooks/use-page.ts';
import { paths } from '../../paths.ts';
import { Glyph } from '../../ui/icon.tsx';
import { IconLock } from '@tabler/icons-react';
import { Count, PageHead } from '../../ui/layout.tsx';
import { type Need, neededText } from '../../ui/permitted.tsx';
import { TabLinks } from '../../ui/tabs.tsx';

/** Head and tabs of the pages about who may what. What the viewer may not read keeps its tab, with a lock and the reason. */
export function AccessHead({
  current,
  title,
  total,
  meta,
  actions,
}: {
  current: 'principals' | 'roles' | 'tokens' | 'join-tokens' | 'sessions';
  title: string;
  /** As shown; null where it is not known. */
  total: string | null;
  meta: string;
  actions: ReactNode;
}) {
  usePage([{ name: 'Access', href: paths.principals() }, { name: title }]);
  const principals = usePermission('admin:principals:read');
  const roles = usePermission('admin:roles:read');
  const tokens = usePermission('admin:tokens:read');
  return (
    <>
      <PageHead
        title={
          <>
            {title}
            {total !== null && <Count>{total}</Count>}
          </>
        }
        meta={meta}
        actions={actions}
      />
      <TabLinks
        label="Views of access"
        current={current}
        tabs={[
          { id: 'principals', name: 'Principals', href: paths.principals(), count: lockOf(principals) },
          { id: 'roles', name: 'Roles', href: paths.accessRoles(), count: lockOf(roles) },
          { id: 'tokens', name: 'API tokens', href: paths.apiTokens() },
          { id: 'join-tokens', name: 'Join tokens', href: paths.joinTokens(), count: lockOf(tokens) },
          { id: 'sessions', name: 'Sessions', href: paths.sessions() },
        ]}
      />
    </>
  );
}

function lockOf(need: Need): ReactNode {
  if (need.allowed) return null;
  return (
    <span title={neededText(need)}>
      <Glyph icon={IconLock} size={13} />
      <span className="sr">{neededText(need)}</span>
    </span>
  );
}
