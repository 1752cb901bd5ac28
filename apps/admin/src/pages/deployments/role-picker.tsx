import { Popover } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import {
  type Icon,
  IconAlertTriangleFilled,
  IconCheck,
  IconChevronDown,
  IconCircleCheckFilled,
  IconPlugConnectedX,
  IconSearch,
} from '@tabler/icons-react';
import { Fragment, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { RoleFacts } from '../../api/roles.ts';
import { AnyRoleChip, RoleChip } from '../../ui/chips.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { groupRoles, type RoleGroup, roleNote } from './role-groups.ts';

const LOOKS: Record<RoleGroup, { icon: Icon; tone: string }> = {
  Healthy: { icon: IconCircleCheckFilled, tone: 't-ok' },
  Unhealthy: { icon: IconAlertTriangleFilled, tone: 't-warn' },
  'Known, none alive': { icon: IconPlugConnectedX, tone: 't-bad' },
};

const ROLE_NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;

const NOTHING_KNOWN: readonly RoleFacts[] = [];

/** Options hold still this long after the pointer has left the list. */
const SETTLE_MS = 1_000;

/**
 * The roles as the list shows them: live, but still while the pointer is over the list, so that nothing moves under it.
 */
function useSettled(roles: readonly RoleFacts[]) {
  const [held, setHeld] = useState<readonly RoleFacts[] | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const stop = (): void => {
    if (timer.current) clearTimeout(timer.current);
  };
  useEffect(() => stop, []);
  return {
    roles: held ?? roles,
    enter: () => {
      stop();
      setHeld((old) => old ?? roles);
    },
    leave: () => {
      stop();
      timer.current = setTimeout(() => setHeld(null), SETTLE_MS);
    },
  };
}

/** Target roles of one variant; `roles` null: not read. Live: an option changes its group while the list is open. Free text names a role of the future. */
export function RolePicker({
  variant,
  value,
  roles,
  onChange,
  disabled = false,
}: {
  variant: string;
  value: readonly string[];
  roles: readonly RoleFacts[] | null;
  onChange: (next: string[]) => void;
  disabled?: boolean;
}) {
  const [opened, setOpened] = useState(false);
  const phone = useMediaQuery('(max-width: 900px)') ?? false;
  const healthy = (role: string): number | null =>
    roles && (roles.find((each) => each.role === role)?.healthyWorkers ?? 0);
  const words =
    value.length === 0
      ? 'any role'
      : value.map((role) => (roles ? `${role} ${healthy(role)} healthy` : role)).join(', ');
  const list = (
    <RoleList
      variant={variant}
      value={value}
      roles={roles ?? NOTHING_KNOWN}
      onToggle={(role) => onChange(value.includes(role) ? value.filter((each) => each !== role) : [...value, role])}
      onClose={() => setOpened(false)}
    />
  );
  const button = (
    <button
      type="button"
      className="pick"
      aria-expanded={opened}
      aria-haspopup="listbox"
      aria-label={`Target roles of ${variant}: ${words}`}
      disabled={disabled}
      onClick={() => setOpened((old) => !old)}
    >
      {value.length === 0 ? (
        <AnyRoleChip />
      ) : (
        // The space keeps the words apart where they are read as text: the name of the button must contain them.
        value.map((role) => (
          <Fragment key={role}>
            <RoleChip role={role} healthyWorkers={healthy(role)} />{' '}
          </Fragment>
        ))
      )}
      <span className="ch">
        <Glyph icon={IconChevronDown} />
      </span>
    </button>
  );
  if (phone) {
    return (
      <>
        {button}
        {opened && <div className="panel">{list}</div>}
      </>
    );
  }
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-end"
      width={320}
      offset={6}
      trapFocus
      returnFocus
      zIndex={300}
    >
      <Popover.Target>{button}</Popover.Target>
      <Popover.Dropdown p={0} aria-label={`Choose target roles of ${variant}`}>
        {list}
      </Popover.Dropdown>
    </Popover>
  );
}

function RoleList({
  variant,
  value,
  roles,
  onToggle,
  onClose,
}: {
  variant: string;
  value: readonly string[];
  roles: readonly RoleFacts[];
  onToggle: (role: string) => void;
  onClose: () => void;
}) {
  const id = useId();
  const [search, setSearch] = useState('');
  const [active, setActive] = useState(0);
  const settled = useSettled(roles);
  const chosenOnly = value
    .filter((role) => !settled.roles.some((each) => each.role === role))
    .map((role): RoleFacts => unheard(role));
  const groups = groupRoles([...settled.roles, ...chosenOnly], search);
  const text = search.trim();
  const isNew =
    text !== '' && ROLE_NAME.test(text) && !groups.some((group) => group.roles.some((role) => role.role === text));
  const flat = [...groups.flatMap((group) => group.roles.map((role) => role.role)), ...(isNew ? [text] : [])];
  const at = Math.min(active, flat.length - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setActive(Math.min(flat.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setActive(Math.max(0, at - 1));
    else if (event.key === 'Enter') {
      const role = flat[at];
      if (role !== undefined) onToggle(role);
    } else if (event.key === 'Escape') onClose();
    else return;
    event.preventDefault();
  };
  return (
    <div className="pop">
      <div className="q">
        <Glyph icon={IconSearch} />
        <input
          data-autofocus
          role="combobox"
          aria-label="Find or name a role"
          aria-expanded
          aria-controls={id}
          aria-activedescendant={flat[at] === undefined ? undefined : `${id}-${at}`}
          placeholder="Find or name a role"
          value={search}
          onChange={(event) => {
            setSearch(event.currentTarget.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div
        className="list"
        id={id}
        role="listbox"
        tabIndex={-1}
        aria-label={`Roles for ${variant}`}
        aria-multiselectable
        onMouseEnter={settled.enter}
        onMouseLeave={settled.leave}
      >
        {groups.map((group) => (
          <div key={group.group} role="group" aria-label={group.group}>
            <div className="gh" role="presentation">
              <span>{group.group}</span>
              <span>{group.roles.length}</span>
            </div>
            {group.roles.map((role) => {
              const index = flat.indexOf(role.role);
              return (
                <RoleOption
                  key={role.role}
                  id={`${id}-${index}`}
                  role={role}
                  group={group.group}
                  selected={value.includes(role.role)}
                  active={index === at}
                  onToggle={() => onToggle(role.role)}
                  onPoint={() => setActive(index)}
                />
              );
            })}
          </div>
        ))}
        {isNew && (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
          <div
            id={`${id}-${flat.length - 1}`}
            className={`own${at === flat.length - 1 ? ' act' : ''}`}
            role="option"
            aria-selected={false}
            onClick={() => onToggle(text)}
          >
            Use {text} <span className="mute">(nobody has announced it yet)</span>
          </div>
        )}
      </div>
      {flat.length === 0 && (
        <p className="pf">
          {text === ''
            ? 'No role is known yet. Type a name to use one of the future.'
            : 'A role has letters, digits, dots, dashes and underscores.'}
        </p>
      )}
      <p className="pf">Several roles mean any of them. None means any worker.</p>
    </div>
  );
}

function RoleOption({
  id,
  role,
  group,
  selected,
  active,
  onToggle,
  onPoint,
}: {
  id: string;
  role: RoleFacts;
  group: RoleGroup;
  selected: boolean;
  active: boolean;
  onToggle: () => void;
  onPoint: () => void;
}) {
  const { icon: Icon, tone } = LOOKS[group];
  return (
    // The keyboard stays in the field; the option is reached through aria-activedescendant.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={id}
      className={`o${active ? ' act' : ''}`}
      role="option"
      aria-selected={selected}
      onClick={onToggle}
      onMouseMove={onPoint}
    >
      <span className="ck">{selected && <Glyph icon={IconCheck} />}</span>
      <Icon size={15} className={tone} aria-hidden />
      <span className="nm">{role.role}</span>
      <span className="x">{roleNote(role)}</span>
    </div>
  );
}

function unheard(role: string): RoleFacts {
  return {
    role,
    healthy: false,
    healthyWorkers: 0,
    unhealthyWorkers: 0,
    staleWorkers: 0,
    offlineWorkers: 0,
    unavailableWorkers: 0,
    workers: 0,
    variants: 0,
    lastSeenAt: null,
    since: null,
  };
}
