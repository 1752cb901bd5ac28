import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useState } from 'react';
import { showToast } from './toast.tsx';

/** Copies and says so. Resolves to false where the browser refuses (no permission, no secure context). */
export async function copyText(text: string, announce = 'Copied'): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    showToast({ message: announce });
    return true;
  } catch {
    showToast({ message: 'The browser did not allow copying' });
    return false;
  }
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    if (await copyText(text)) {
      setDone(true);
      setTimeout(() => setDone(false), 1_500);
    }
  };
  return (
    <button type="button" className="icon-button dense" aria-label={label} onClick={() => void copy()}>
      {done ? <IconCheck size={16} stroke={1.75} aria-hidden /> : <IconCopy size={16} stroke={1.75} aria-hidden />}
    </button>
  );
}

/** A command to copy. */
export function Command({ text }: { text: string }) {
  return (
    <div className="cmd">
      {/* The text scrolls, so the keyboard must reach it. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <span tabIndex={0} role="region" aria-label="Command">
        {text}
      </span>
      <CopyButton text={text} label="Copy command" />
    </div>
  );
}
