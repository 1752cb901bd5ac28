/** An alternative of a deployment, as it is stored and as it goes over the wire. */
export interface Variant {
  /** Unique within its deployment. */
  readonly label: string;
  /** `namespace/name` of the workflow it runs. */
  readonly flowId: string;
  /** null: the workflow's latest version. */
  readonly versionId: string | null;
  /** Whole, 0 … 1,000,000; 0 never gets a session. */
  readonly weight: number;
  /** Empty: any role. Several: any one of them. */
  readonly targetRoles: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** What is needed to pick: the slug is part of the session hash, so that it must never be anything but the deployment's stable name. */
export interface DeploymentVariants {
  readonly slug: string;
  readonly variants: readonly Variant[];
}

/** Says whether a role has a worker that may take work. */
export type RoleChecker = (role: string) => boolean;

export type SkipReason = 'ROLES_DEAD' | 'WEIGHT_ZERO';

export interface SkippedVariant {
  readonly label: string;
  readonly reason: SkipReason;
  /** Its target roles, where the reason is that all of them are dead. */
  readonly deadRoles: readonly string[];
}

/**
 * Target roles are set and none of them is healthy. Without a role checker the role filter is off and nothing is dead.
 */
export function isDead(variant: Variant, roleChecker: RoleChecker | undefined): boolean {
  return (
    roleChecker !== undefined &&
    variant.targetRoles.length > 0 &&
    !variant.targetRoles.some((role) => roleChecker(role))
  );
}

/** Why the variant gets no session, null where it may. A dead variant is called dead also where its weight is 0. */
export function skipReason(variant: Variant, roleChecker: RoleChecker | undefined): SkipReason | null {
  if (isDead(variant, roleChecker)) return 'ROLES_DEAD';
  return variant.weight > 0 ? null : 'WEIGHT_ZERO';
}
