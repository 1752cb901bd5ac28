import { IconLink } from '@tabler/icons-react';
import { moment } from '../../format.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Scroll } from '../../ui/layout.tsx';
import { type AuditChange, auditChanges } from './audit-diff.ts';
import type { AuditRow } from './audit-queries.ts';

/** Changes that a row shows at once; the rest opens. */
const SHOWN = 3;

type Narrow = (patch: { actor?: string; action?: string; target?: string }) => void;

export function AuditRows({ rows, onNarrow }: { rows: readonly AuditRow[]; onNarrow: Narrow }) {
  return (
    <Scroll label="Audit, table">
      <table className="tb audit">
        <caption className="sr">{rows.length} entries, newest first</caption>
        <thead>
          <tr>
            <th scope="col" className="pin">
              When
            </th>
            <th scope="col">Who</th>
            <th scope="col">Did</th>
            <th scope="col">Before → after</th>
            <th scope="col">From</th>
            <th scope="col">Request</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row" className="pin">
                <When row={row} />
              </th>
              <td>
                <button
                  type="button"
                  className="l name-cell"
                  title={row.actor}
                  onClick={() => onNarrow({ actor: row.actor })}
                >
                  {row.actor}
                </button>
              </td>
              <td className="did">
                <button type="button" className="l mono" onClick={() => onNarrow({ action: row.action })}>
                  {row.action}
                </button>
                {row.target && (
                  <button
                    type="button"
                    className="target"
                    title={row.target}
                    onClick={() => onNarrow({ target: row.target ?? '' })}
                  >
                    {row.target}
                  </button>
                )}
              </td>
              <td className="wrap">
                <Changes changes={auditChanges(row.before, row.after)} />
              </td>
              <td className="mono mute">{row.address ?? 'server'}</td>
              <td className="mono mute">
                {row.requestId ? (
                  <span className="nowrap" title={row.requestId}>
                    {row.requestId.slice(0, 8)}…
                    <CopyButton text={row.requestId} label={`Copy request id ${row.requestId.slice(0, 8)}`} />
                  </span>
                ) : (
                  '–'
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function When({ row }: { row: AuditRow }) {
  const at = new Date(row.at);
  return (
    <time dateTime={row.at} title={moment(row.at)} className="nowrap">
      {at.toLocaleDateString('en-CA')} {at.toLocaleTimeString('en-GB')}
      {row.sealed && (
        <span className="mute" title={`Sealed into the chain at position ${String(row.position)}`}>
          {' '}
          <Glyph icon={IconLink} size={12} />
          <span className="sr">sealed at position {String(row.position)}</span>
        </span>
      )}
    </time>
  );
}

function Changes({ changes }: { changes: readonly AuditChange[] }) {
  if (changes.length === 0) return <span className="mute">–</span>;
  const rest = changes.slice(SHOWN);
  return (
    <div className="audit-diff">
      <ChangeList changes={changes.slice(0, SHOWN)} />
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} more</summary>
          <ChangeList changes={rest} />
        </details>
      )}
    </div>
  );
}

function ChangeList({ changes }: { changes: readonly AuditChange[] }) {
  return (
    <ul>
      {changes.map((change) => (
        <li key={change.path}>
          {change.path !== '' && <span className="path">{change.path}</span>}{' '}
          {change.before !== null && (
            <>
              <span className="sr">before</span>
              <del>{change.before}</del>
            </>
          )}
          {change.before !== null && change.after !== null && <span aria-hidden> → </span>}
          {change.after !== null && (
            <>
              <span className="sr">after</span>
              <ins>{change.after}</ins>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
