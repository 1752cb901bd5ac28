import type { Icon as TablerIcon } from '@tabler/icons-react';

/** An icon beside words: 16 px, hidden from assistive technology. */
export function Glyph({ icon: Icon, size = 16, className }: { icon: TablerIcon; size?: number; className?: string }) {
  return <Icon size={size} stroke={1.75} aria-hidden className={className} />;
}
