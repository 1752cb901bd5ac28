import type { CredentialStatus } from '../../api/generated/graphql.ts';
import { status } from '../../status.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';

export const CREDENTIAL_STATES = ['any', 'ACTIVE', 'EXPIRED', 'REVOKED', 'USED'] as const;

/** One status of a credential, or all. */
export function CredentialFilter({
  options,
  value,
  onChange,
}: {
  options: readonly CredentialStatus[];
  value: CredentialStatus | 'any';
  onChange: (value: CredentialStatus | 'any') => void;
}) {
  return (
    // A fieldset would bring a legend and its own box; the group has a name.
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
    <div role="group" aria-label="Filter by status" className="toggles">
      {options.map((option) => (
        <button
          key={option}
          type="button"
          className="rb"
          aria-pressed={value === option}
          onClick={() => onChange(value === option ? 'any' : option)}
        >
          <StatusBadge look={status.credential[option]} />
        </button>
      ))}
    </div>
  );
}
