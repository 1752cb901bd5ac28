import { Button, Modal } from '@mantine/core';
import { Banner } from '../../ui/banner.tsx';
import { Command, CopyButton } from '../../ui/copy.tsx';

/** A secret that was just made. Only this component is given it: it is kept in no cache and gone once the dialog is closed. */
export function SecretOnce({
  title,
  secret,
  command,
  onClose,
}: {
  title: string;
  secret: string;
  /** What to do with it; `$SECRET` is where it stands. */
  command: string;
  onClose: () => void;
}) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size="lg"
      centered
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Banner tone="warn" title="This is shown once">
        The server keeps only a hash of it. Copy it now; nobody can show it again.
      </Banner>
      <div className="secret">
        <output aria-label="Secret" className="mono">
          {secret}
        </output>
        <CopyButton text={secret} label="Copy secret" />
      </div>
      <p className="small mute mt">To use it:</p>
      <Command text={command.replace('$SECRET', secret)} />
      <div className="dialog-actions">
        <Button variant="filled" data-autofocus onClick={onClose}>
          Done
        </Button>
      </div>
    </Modal>
  );
}
