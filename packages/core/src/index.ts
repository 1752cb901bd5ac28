export { type ErrorCode, type Issue, MusterError } from './lib/errors.ts';
export type { JsonObject, JsonValue } from './lib/json.ts';
export * from './policy/spec.ts';
export * from './worker/worker-facts.ts';
export * from './decision/decision.ts';
export * from './decision/request.ts';
export {
  checkTargetRoles,
  checkVariants,
  MAX_TARGET_ROLES,
  MAX_VARIANTS,
  MAX_WEIGHT,
  type VariantInput,
} from './deployment/check-variants.ts';
export { type Resolved, type ResolveOptions, resolveDeployment } from './deployment/resolve.ts';
export { checkSessionKey, MAX_SESSION_KEY_BYTES } from './deployment/session-key.ts';
export {
  type DeploymentHealth,
  deploymentHealth,
  movedShare,
  type VariantShare,
  variantShares,
} from './deployment/shares.ts';
export {
  type DeploymentVariants,
  isDead,
  type RoleChecker,
  type SkippedVariant,
  type SkipReason,
  skipReason,
  type Variant,
} from './deployment/variant.ts';
export {
  canBecome,
  EXECUTION_STATES,
  type ExecutionState,
  isLive,
  isQueued,
  isTerminal,
  LIVE_STATES,
  QUEUED_STATES,
  stateAfterCancelRequest,
  statesBefore,
  TERMINAL_STATES,
  type TerminalState,
} from './execution/states.ts';
export {
  type Checked,
  checkCapacity,
  checkInteger,
  checkLabels,
  checkMetrics,
  checkParkTtl,
  checkPriority,
  checkText,
  isMetadataKey,
  type KeyValue,
  MAX_METRICS,
  MAX_PROVIDER_METRICS,
  type MetadataValue,
  METRICS_MAX_AGE_MS,
  mergeMetadata,
  RESERVED_PREFIX,
  withoutReserved,
} from './worker/guardrails.ts';
export {
  effectiveAvailability,
  type HealthCheck,
  type Liveness,
  type LivenessFacts,
  type LivenessWindows,
  liveness,
  livenessWindows,
} from './worker/liveness.ts';
export {
  checkName,
  checkSlug,
  isName,
  isSlug,
  MAX_NAME,
  MAX_SHORT_NAME,
  parseWorkflowRef,
  quote,
} from './worker/names.ts';
export { type RoleMember, type RoleSummary, roleHealth } from './worker/role-health.ts';
