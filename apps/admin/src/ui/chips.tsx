import { IconCircleCheckFilled, IconCircleXFilled } from '@tabler/icons-react';

export function LabelChip({ name, value }: { name: string; value: string }) {
  return (
    <span className="lab" title={`${name}=${value}`}>
      <i>{name}</i>
      <b>{value}</b>
    </span>
  );
}

/** A role with how many healthy workers it has; zero is red, null is not known. */
export function RoleChip({ role, healthyWorkers }: { role: string; healthyWorkers: number | null }) {
  if (healthyWorkers === null) return <span className="chip">{role}</span>;
  const dead = healthyWorkers === 0;
  const Icon = dead ? IconCircleXFilled : IconCircleCheckFilled;
  return (
    <span className={`chip ${dead ? 'dead' : 'ok'}`}>
      <Icon size={13} aria-hidden />
      {role} <span className={dead ? undefined : 'mute'}>{dead ? '0 healthy' : `${healthyWorkers} healthy`}</span>
    </span>
  );
}

export function AnyRoleChip() {
  return <span className="chip any">any role</span>;
}
