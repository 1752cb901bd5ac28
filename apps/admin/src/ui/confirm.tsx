import { Button, Modal } from '@mantine/core';
import type { ReactNode } from 'react';

/** A question before something that cannot be taken back. The focus starts on Cancel. */
export function Confirm({
  title,
  children,
  verb,
  pending = false,
  danger = false,
  onConfirm,
  onCancel,
}: {
  title: string;
  children: ReactNode;
  verb: string;
  pending?: boolean;
  danger?: boolean;
  onConfirm: () => void;
  onCancel: () => void;
}) {
  return (
    <Modal opened onClose={onCancel} title={title} centered size="md" closeButtonProps={{ 'aria-label': 'Close' }}>
      {children}
      <div className="dialog-actions">
        <Button onClick={onCancel} data-autofocus>
          Cancel
        </Button>
        <Button
          className={danger ? 'danger' : undefined}
          variant={danger ? 'default' : 'filled'}
          loading={pending}
          onClick={onConfirm}
        >
          {verb}
        </Button>
      </div>
    </Modal>
  );
}
