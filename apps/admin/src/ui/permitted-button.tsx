import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** A verb that stays visible without the permission: disabled, with a lock and the reason. */
export function PermittedButton({
  permission,
  allowed,
  children,
  onClick,
  ...rest
}: { permission: string; allowed: boolean; children: ReactNode; onClick: () => void } & ButtonProps) {
  if (allowed) {
    return (
      <Button {...rest} onClick={onClick}>
        {children}
      </Button>
    );
  }
  const reason = `Needs ${permission}`;
  return (
    <Tooltip label={reason}>
      <Button
        {...rest}
        leftSection={<IconLock size={16} stroke={1.75} aria-hidden />}
        data-disabled
        aria-disabled
        aria-description={reason}
        onClick={(event) => event.preventDefault()}
      >
        {children}
      </Button>
    </Tooltip>
  );
}
