import { Button, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ApiError } from '../../api/client.ts';
import { Banner } from '../../ui/banner.tsx';

/** A form in a dialog. `error` is what no field of it shows. */
export function FormDialog({
  title,
  verb,
  failed,
  error,
  pending,
  children,
  onSubmit,
  onClose,
}: {
  title: string;
  verb: string;
  /** What to say where it did not work: "Not created". */
  failed: string;
  error: ApiError | null;
  pending: boolean;
  children: ReactNode;
  onSubmit: () => void;
  onClose: () => void;
}) {
  return (
    <Modal opened onClose={onClose} title={title} size="lg" centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        className="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {error && (
          <Banner tone="bad" title={failed}>
            {error.message} <span className="mute">{error.code}</span>
          </Banner>
        )}
        {children}
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="filled" loading={pending}>
            {verb}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
