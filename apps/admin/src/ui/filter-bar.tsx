import { count } from '../format.ts';
import type { StatusLook } from '../status.ts';
import { StatusBadge } from './status-badge.tsx';

export interface FilterOption<T extends string> {
  value: T;
  look: StatusLook;
  /** null: not read. */
  count: number | null;
  /** Options of another axis take no part in the proportional strip. */
  aside?: boolean;
}

/** The whole at a glance (the strip), and the filter (the toggle buttons). */
export function FilterBar<T extends string>({
  label,
  options,
  selected,
  onToggle,
}: {
  label: string;
  options: ReadonlyArray<FilterOption<T>>;
  selected: readonly T[];
  onToggle: (value: T) => void;
}) {
  return (
    // A fieldset would bring a legend and its own box; the group has a name.
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <div className="fbar" role="group" aria-label={label}>
      <div className="fprop" aria-hidden>
        {options
          .filter((option) => !option.aside && option.count !== null && option.count > 0)
          .map((option) => (
            <b key={option.value} className={option.look.tone} style={{ flexGrow: option.count ?? 0, flexBasis: 0 }} />
          ))}
      </div>
      <div className="fchips">
        {options.map((option) => (
          <button
            key={option.value}
            type="button"
            className={`fchip${option.count === 0 ? ' none' : ''}`}
            aria-pressed={selected.includes(option.value)}
            onClick={() => onToggle(option.value)}
          >
            <StatusBadge look={option.look} />
            <b>{option.count === null ? '–' : count(option.count)}</b>
          </button>
        ))}
      </div>
    </div>
  );
}
