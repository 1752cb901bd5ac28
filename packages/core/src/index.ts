export { type ErrorCode, type Issue, MusterError } from './lib/errors.ts';
export { BUILT_IN_ROLES } from './access/built-in-roles.ts';
export { intersectPermissions } from './access/intersect-permissions.ts';
export { checkPermission, permits, permitsSome } from './access/permissions.ts';
export { type AuditRecord, sealHash } from './audit/chain.ts';
export { ChainCheck, type ChainHead, type ChainReport, type SealedRecord } from './audit/chain-check.ts';
export { compareCodePoints } from './lib/code-point-order.ts';
export type { JsonObject, JsonValue } from './lib/json.ts';
export * from './policy/spec.ts';
export { isServiceName } from './policy/values.ts';
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
  MAX_PARK_TTL_SECONDS,
  MAX_PRIORITY,
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
export {
  type Comparable,
  type Comparison,
  type InputComparison,
  input,
  label,
  labelFor,
  least,
  load,
  meta,
  metaFor,
  metric,
  most,
  optional,
  prefer,
  type RequireTermBuilder,
  require,
  resource,
  resourceRequest,
  routingInput,
  type ScoreTermBuilder,
  type SelectorBuilder,
  score,
  service,
  sticky,
  type TermOptions,
  utilization,
  type ValueReference,
  when,
} from './policy/builder.ts';
export { type CheckedSpec, checkSpec } from './policy/check-spec.ts';
export { formatPolicy, formatTerm } from './policy/format.ts';
export { type ParsedPolicy, parsePolicyText, type StageSpecs } from './policy/parse/parse.ts';
export type { PolicyProblem, ProblemSeverity, Span } from './policy/parse/problems.ts';
export { type PythonFile, type PythonWorkflow, readPythonWorkflows } from './policy/python/read-workflows.ts';
export {
  affinityNamesRoutingInput,
  listReferences,
  namesRoutingInput,
  policyNamesRoutingInput,
  type SpecReferences,
} from './policy/references.ts';
export { MAX_PACKAGES } from './policy/requests-rules.ts';
export { type PackageRequirement, parseMemory, parsePackageRequirement } from './policy/resource-units.ts';
export { MAX_TERMS, MAX_TEXT_BYTES, RESOURCE_FIELDS } from './policy/rules.ts';
export {
  checkRoutingInput,
  MAX_ROUTING_INPUT_BYTES,
  MAX_ROUTING_INPUT_KEYS,
  MAX_ROUTING_INPUT_LEVELS,
  parseRoutingInputHeader,
  parseRoutingInputPairs,
  type RoutingInputResult,
} from './routing-input/routing-input.ts';
export { blind } from './decision/blind.ts';
export { decide, decideOnce, decideTraced } from './decision/decide.ts';
export { explain } from './decision/explain.ts';
export { type Fleet, prepareFleet } from './decision/fleet.ts';
export {
  type DecisionFrame,
  type DecisionRow,
  FRAME_MAX,
  frameFacts,
  packDecisions,
  unpackDecision,
} from './decision/frame.ts';
export { type Blinding, compilePlan, type DispatchPlan } from './decision/plan.ts';
export { KEPT_MAX } from './decision/select.ts';
export type { TracedDecision } from './decision/traced-decision.ts';
export { checkCatchUpLimit, checkTiming, MAX_LISTED_RUNS } from './schedule/check-schedule.ts';
export { type DueRun, dueRun, ON_TIME_MS, spreadDelay } from './schedule/due.ts';
export { checkTimeZone, localTime } from './schedule/time-zone.ts';
export { nextRun, nextRuns, type ScheduleTiming } from './schedule/timing.ts';
