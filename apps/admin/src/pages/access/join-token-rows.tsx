import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { paths } from '../../paths.ts';
import { status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Anchor } from '../../ui/anchor.tsx';
import { LabelChip } from '../../ui/chips.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Scroll } from '../../ui/layout.tsx';
import { type Need, PermittedButton } from '../../ui/permitted.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { showToast } from '../../ui/toast.tsx';
import { type JoinTokenRow, RevokeJoinTokenDocument } from './access-queries.ts';
import { Expiry } from './expiry.tsx';

export function JoinTokenRows({ rows, need }: { rows: readonly JoinTokenRow[]; need: Need }) {
  return (
    <Scroll label="Join tokens, table">
      <table className="tb">
        <caption className="sr">{rows.length} join tokens</caption>
        <thead>
          <tr>
            <th scope="col" className="pin">
              Begins with
            </th>
            <th scope="col">Status</th>
            <th scope="col">For worker</th>
            <th scope="col">Role</th>
            <th scope="col">Gives</th>
            <th scope="col">Description</th>
            <th scope="col" className="r">
              Expires
            </th>
            <th scope="col" className="r">
              Created
            </th>
            <th scope="col">
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row" className="pin mono">
                {row.prefix}…
              </th>
              <td>
                <StatusBadge look={status.credential[row.status]} />
                {row.usedBy && (
                  <>
                    {' '}
                    by{' '}
                    <Anchor className="l" href={paths.worker(row.usedBy)}>
                      {row.usedBy}
                    </Anchor>
                  </>
                )}
              </td>
              <td>{row.worker ?? <span className="mute">any free name</span>}</td>
              <td>{row.role ?? <span className="mute">any</span>}</td>
              <td className="wrap narrow">
                <Gives row={row} />
              </td>
              <td className="wrap narrow">{row.description || <span className="mute">–</span>}</td>
              <td className="r mute">
                <Expiry at={row.expiresAt} />
              </td>
              <td className="r mute">
                <Ago at={row.createdAt} suffix /> · {row.createdBy}
              </td>
              <td className="r">{row.status === 'ACTIVE' && <RevokeButton row={row} need={need} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Labels, services and what may be registered. */
function Gives({ row }: { row: Pick<JoinTokenRow, 'labels' | 'services' | 'registers'> }) {
  if (row.labels.length + row.services.length + row.registers.length === 0) return <span className="mute">–</span>;
  return (
    <span className="permissions">
      {row.labels.map((label) => (
        <LabelChip key={label.key} name={label.key} value={label.value} />
      ))}
      {row.services.map((service) => (
        <code key={`service ${service}`}>service {service}</code>
      ))}
      {row.registers.map((pattern) => (
        <code key={`registers ${pattern}`}>registers {pattern}</code>
      ))}
    </span>
  );
}

function RevokeButton({ row, need }: { row: JoinTokenRow; need: Need }) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const revoke = useMutation<unknown, ApiError>({
    mutationFn: () => execute(RevokeJoinTokenDocument, { input: { id: row.id } }),
    onSuccess: () => showToast({ message: `${row.prefix}… revoked` }),
    onError: (error) => showToast({ message: error.message }),
    onSettled: () => {
      setAsking(false);
      void client.invalidateQueries({ queryKey: ['join-tokens'] });
    },
  });
  return (
    <>
      <PermittedButton need={need} size="xs" aria-label={`Revoke ${row.prefix}…`} onClick={() => setAsking(true)}>
        Revoke…
      </PermittedButton>
      {asking && (
        <Confirm
          title={`Revoke ${row.prefix}…?`}
          verb="Revoke join token"
          danger
          pending={revoke.isPending}
          onConfirm={() => revoke.mutate()}
          onCancel={() => setAsking(false)}
        >
          <p>No worker can come in with it any more.</p>
        </Confirm>
      )}
    </>
  );
}
