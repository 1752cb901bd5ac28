import { Button, type ButtonProps, Menu, type MenuItemProps, Tooltip } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { type MouseEvent, type ReactNode, useId } from 'react';

/** What a control takes, and whether the viewer has it. */
export interface Need {
  /** As people read it: `worker:w-7:manage`. */
  permission: string;
  allowed: boolean;
}

interface ButtonMarks {
  type?: 'submit' | 'button';
  'aria-label'?: string;
}

const refuse = (event: MouseEvent): void => event.preventDefault();

/** Why something is closed to this viewer. */
export function neededText({ permission }: Need): string {
  return `Needs ${permission}`;
}

/** A verb that stays visible without the permission: disabled, yet a stop for the keyboard, with a lock and the reason. */
export function PermittedButton({
  need,
  children,
  onClick,
  ...rest
}: { need: Need; children: ReactNode; onClick?: () => void } & ButtonProps & ButtonMarks) {
  const id = useId();
  if (need.allowed) {
    return (
      <Button {...rest} onClick={onClick}>
        {children}
      </Button>
    );
  }
  return (
    <>
      <Tooltip label={neededText(need)} events={{ hover: true, focus: true, touch: true }}>
        <Button
          {...rest}
          leftSection={<IconLock size={16} stroke={1.75} aria-hidden />}
          data-disabled
          aria-disabled
          aria-describedby={id}
          onClick={refuse}
        >
          {children}
        </Button>
      </Tooltip>
      <span id={id} hidden>
        {neededText(need)}
      </span>
    </>
  );
}

/** The same for an entry of a menu: the arrows still reach it, and the reason stands below its words. */
export function PermittedItem({
  need,
  children,
  onClick,
  ...rest
}: { need: Need; children: ReactNode; onClick: () => void } & MenuItemProps) {
  const id = useId();
  if (need.allowed) {
    return (
      <Menu.Item {...rest} onClick={onClick}>
        {children}
      </Menu.Item>
    );
  }
  return (
    <Menu.Item
      {...rest}
      className="locked-item"
      leftSection={<IconLock size={16} stroke={1.75} aria-hidden />}
      closeMenuOnClick={false}
      aria-disabled
      aria-labelledby={`${id}-name`}
      aria-describedby={id}
      onClick={refuse}
    >
      <span id={`${id}-name`}>{children}</span>
      <small id={id}>{neededText(need)}</small>
    </Menu.Item>
  );
}

/** The same for a small button that is an icon. */
export function PermittedIconButton({
  need,
  label,
  children,
  onClick,
}: {
  need: Need;
  label: string;
  children: ReactNode;
  onClick: () => void;
}) {
  const id = useId();
  if (need.allowed) {
    return (
      <button type="button" className="icon-button dense" aria-label={label} onClick={onClick}>
        {children}
      </button>
    );
  }
  return (
    <>
      <Tooltip label={neededText(need)} events={{ hover: true, focus: true, touch: true }}>
        <button
          type="button"
          className="icon-button dense"
          aria-label={label}
          aria-disabled
          aria-describedby={id}
          onClick={refuse}
        >
          {children}
        </button>
      </Tooltip>
      <span id={id} hidden>
        {neededText(need)}
      </span>
    </>
  );
}
