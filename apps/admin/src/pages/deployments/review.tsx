import { Button, Modal, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { ApiError } from '../../api/client.ts';
import { isRecord } from '../../api/client.ts';
import { percent, plural } from '../../format.ts';
import { Banner } from '../../ui/banner.tsx';
import { type Change, ChangeText } from '../../ui/conflict-dialog.tsx';
import { type Need, PermittedButton } from '../../ui/permitted.tsx';

/** Changes that the bar names; the dialog names all. */
const NAMED = 3;

/** How many sessions a change moves, as a sentence. */
export function movedSentence(movedShare: number | null): string {
  if (movedShare === null) return '';
  if (movedShare === 0) return 'No sticky session moves.';
  return `About ${percent(movedShare)} of sticky sessions move.`;
}

/** Appears with the first change and stays at the bottom. */
export function ReviewBar({
  changes,
  movedShare,
  need,
  blocked,
  onDiscard,
  onReview,
}: {
  changes: readonly Change[];
  movedShare: number | null;
  need: Need;
  blocked: boolean;
  onDiscard: () => void;
  onReview: () => void;
}) {
  return (
    <>
      <div className="review-space" />
      <section className="review" aria-label="Review of changes">
        <strong>{plural(changes.length, 'change')}</strong>
        {changes.slice(0, NAMED).map((change) => (
          <span className="d" key={`${change.subject} ${change.what}`}>
            <ChangeText change={change} />
          </span>
        ))}
        {changes.length > NAMED && <span className="d">and {changes.length - NAMED} more</span>}
        {movedShare !== null && <span className="d">{movedSentence(movedShare).replace(/\.$/, '')}</span>}
        <span className="end">
          <Button onClick={onDiscard}>Discard</Button>
          <PermittedButton need={need} variant="filled" disabled={blocked && need.allowed} onClick={onReview}>
            Review and save
          </PermittedButton>
        </span>
      </section>
    </>
  );
}

/** Everything that will change, who moves, and a comment for the history. */
export function ReviewDialog({
  slug,
  changes,
  movedShare,
  warnings,
  error,
  pending,
  onSave,
  onClose,
}: {
  slug: string;
  changes: readonly Change[];
  movedShare: number | null;
  warnings: readonly string[];
  error: ApiError | null;
  pending: boolean;
  onSave: (comment: string, force: boolean) => void;
  onClose: () => void;
}) {
  const [comment, setComment] = useState('');
  const force = workWaits(error);
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Save ${slug}`}
      size="lg"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {error && (
        <Banner tone="bad" title="Not saved">
          {[error.message, ...error.issues.map((issue) => `${issue.path}: ${issue.message}`)].join(' ')}{' '}
          <span className="mute">
            {error.code}
            {error.requestId && ` · request ${error.requestId}`}
          </span>
        </Banner>
      )}
      <ul className="diff">
        {changes.map((change) => (
          <li key={`${change.subject} ${change.what}`}>
            <ChangeText change={change} />
          </li>
        ))}
      </ul>
      <p className="mute">{movedSentence(movedShare)}</p>
      {warnings.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
      <Textarea
        mt={12}
        label="Comment"
        description="For the history; may stay empty."
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
        autosize
        minRows={2}
      />
      <div className="dialog-actions">
        <Button onClick={onClose}>Go on editing</Button>
        <Button
          className={force ? 'danger' : undefined}
          variant={force ? 'default' : 'filled'}
          loading={pending}
          onClick={() => onSave(comment, force)}
        >
          {force ? 'Save anyway' : 'Save'}
        </Button>
      </div>
    </Modal>
  );
}

/** A CONFLICT over work that has no worker yet: the same again with `force` goes through. */
export function workWaits(error: ApiError | null): boolean {
  return error?.code === 'CONFLICT' && isRecord(error.extensions['waiting']);
}
