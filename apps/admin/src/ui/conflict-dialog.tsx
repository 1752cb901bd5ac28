import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { Ago } from './ago.tsx';
import { copyText } from './copy.tsx';

/** One difference between what is saved and what is typed, in words. */
export interface Change {
  subject: string;
  what: string;
  from: string;
  to: string;
}

export function ChangeText({ change }: { change: Change }) {
  return (
    <>
      <b>{change.subject}</b> {change.what} <s>{change.from}</s> → <b>{change.to}</b>
    </>
  );
}

/** Somebody saved meanwhile: take theirs, keep yours (asked twice), or copy yours. */
export function ConflictDialog({
  current,
  theirs,
  yours,
  pending,
  onTake,
  onKeep,
  onClose,
}: {
  current: { revision: number; updatedBy: string | null; updatedAt: string | null };
  theirs: readonly Change[];
  yours: readonly Change[];
  pending: boolean;
  onTake: () => void;
  onKeep: () => void;
  onClose: () => void;
}) {
  const [sure, setSure] = useState(false);
  return (
    <Modal
      opened
      onClose={onClose}
      title="Changed by someone else"
      size="lg"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <p>
        {current.updatedBy ?? 'Somebody'} saved revision {current.revision}
        {current.updatedAt !== null && (
          <>
            {' '}
            <Ago at={current.updatedAt} suffix />
          </>
        )}
        . Your changes are not saved yet.
      </p>
      <div className="grid g2 mt">
        <div>
          <h3 className="small mute">Theirs</h3>
          <ul className="diff">
            {theirs.length === 0 && <li className="mute">Nothing that stands on this page.</li>}
            {theirs.map((change) => (
              <li key={`${change.subject} ${change.what}`}>
                <ChangeText change={change} />
              </li>
            ))}
          </ul>
        </div>
        <div>
          <h3 className="small mute">Yours</h3>
          <ul className="diff">
            {yours.map((change) => (
              <li key={`${change.subject} ${change.what}`}>
                <ChangeText change={change} />
              </li>
            ))}
          </ul>
        </div>
      </div>
      <div className="dialog-actions">
        <Button
          onClick={() =>
            void copyText(
              yours.map((change) => `${change.subject} ${change.what}: ${change.from} → ${change.to}`).join('\n'),
            )
          }
        >
          Copy yours
        </Button>
        <Button onClick={onTake} data-autofocus>
          Take theirs
        </Button>
        <Button
          className={sure ? 'danger' : undefined}
          loading={pending}
          onClick={() => (sure ? onKeep() : setSure(true))}
        >
          {sure ? `Overwrite revision ${current.revision}` : 'Keep yours…'}
        </Button>
      </div>
    </Modal>
  );
}
