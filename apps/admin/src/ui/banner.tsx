import { IconAlertTriangleFilled, IconCircleXFilled, IconInfoCircleFilled } from '@tabler/icons-react';
import type { ReactNode } from 'react';

const ICONS = { warn: IconAlertTriangleFilled, bad: IconCircleXFilled, accent: IconInfoCircleFilled };

/** One cause, one banner: the fact in bold, the consequence, at most one button. */
export function Banner({
  tone,
  title,
  children,
  action,
}: {
  tone: 'warn' | 'bad' | 'accent';
  title: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
}) {
  const Icon = ICONS[tone];
  return (
    <div className={`banner b-${tone}`} role={tone === 'accent' ? 'note' : 'alert'}>
      <Icon size={16} aria-hidden />
      <div className="txt">
        <strong>{title}</strong>
        {children != null && <p>{children}</p>}
      </div>
      {action && <div className="b-act">{action}</div>}
    </div>
  );
}
