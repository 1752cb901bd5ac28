import { Modal } from '@mantine/core';
import { SECTIONS } from './nav.tsx';

const KEYS: ReadonlyArray<{ keys: readonly string[]; does: string }> = [
  { keys: ['/'], does: 'Search this page' },
  { keys: ['Ctrl', 'K'], does: 'Command palette' },
  { keys: ['.'], does: 'Freeze or go on' },
  { keys: ['r'], does: 'Read again' },
  { keys: ['?'], does: 'This list' },
  ...SECTIONS.map((section) => ({ keys: ['g', section.key], does: `Go to ${section.name}` })),
];

export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" closeButtonProps={{ 'aria-label': 'Close' }} centered>
      <dl className="keys">
        {KEYS.map((entry) => (
          <div key={entry.does} style={{ display: 'contents' }}>
            <dt>{entry.does}</dt>
            <dd>
              {entry.keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
