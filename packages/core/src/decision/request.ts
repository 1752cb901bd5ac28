import type { JsonObject, JsonValue } from '../lib/json.ts';

/** What the workflow version says about placement. Stored specs are not trusted: the parts are checked as they are read. */
export interface DispatchRules {
  /** `namespace/name`, looked up in a worker's list of handlers; null skips that filter (a preview of loose parts). */
  readonly workflowRef: string | null;
  /** Stored `score(...)` spec; null or undefined: no policy. */
  readonly policy: unknown;
  /** Stored `require(...)` list or label map; null or undefined: none. */
  readonly affinity: unknown;
  /** Stored resource requests; null or undefined: none. */
  readonly requests: unknown;
  readonly runner: string | null;
}

/** What one execution brings along. */
export interface DispatchRequest {
  /** Delivered to the worker; `undefined` reads like null: no path resolves. */
  readonly input: JsonValue | undefined;
  /** Matched here and nowhere else. */
  readonly routingInput: JsonObject | null;
  /** Any one of these roles; empty: any role. */
  readonly targetRoles: readonly string[];
  /** The binding: this worker or nobody. */
  readonly requiredWorker: string | null;
  /** The hint; without a policy it decides, with one it acts through `sticky` only. */
  readonly preferredWorker: string | null;
  /** Workers that were given this execution and did not claim it; skipped unless nobody else is eligible. */
  readonly unclaimedBefore: readonly string[];
}

export interface DecideOptions {
  /** Report every filter that rejects a worker, not only the first. For previews and "why waiting"; slower. */
  readonly allReasons?: boolean;
  /** Weights by term index for what-if; null or a missing entry keeps the term's own. */
  readonly weights?: readonly (number | null)[];
  /**
   * Only for the one who typed the routing value: keep the best candidates although the version is blinded. Without it the
   * choice of kept candidates does not depend on the routing value, so that `blind` can make it storable.
   */
  readonly revealed?: boolean;
}
