import { useEffect, useState, useSyncExternalStore } from 'react';

export interface Toast {
  message: string;
  /** Reversible verbs offer their inverse. */
  undo?: () => void;
}

let current: (Toast & { id: number }) | null = null;
let ids = 0;
const listeners = new Set<() => void>();

/** Shows one toast; a newer one takes its place. Never for errors of a form. */
export function showToast(toast: Toast | null): void {
  current = toast && { ...toast, id: ++ids };
  for (const listener of listeners) listener();
}

/** The place of the toast, bottom right. 10 s with an Undo, 4 s without; waits while hovered or focused. */
export function ToastRegion() {
  const toast = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (!toast || held) return undefined;
    const timer = setTimeout(() => showToast(null), toast.undo ? 10_000 : 4_000);
    return () => clearTimeout(timer);
  }, [toast, held]);
  return (
    <div role="status" aria-live="polite">
      {toast && (
        // Hover and focus only hold the clock; the button inside is the control.
        // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
        <div
          className="toast"
          onMouseEnter={() => setHeld(true)}
          onMouseLeave={() => setHeld(false)}
          onFocus={() => setHeld(true)}
          onBlur={() => setHeld(false)}
        >
          {toast.message}
          {toast.undo && (
            <button
              type="button"
              onClick={() => {
                toast.undo?.();
                showToast(null);
              }}
            >
              Undo
            </button>
          )}
        </div>
      )}
    </div>
  );
}
