import { type JsonObject, type JsonValue, MusterError } from '@muster/core';

/** One execution to be made, with everything that was resolved before: version, variant, roles. */
export interface SubmitItem {
  versionId: number;
  /** `namespace/name` of the version's workflow. */
  workflowRef: string;
  deploymentId?: number | undefined;
  /** Label of the variant that was picked. */
  variant?: string | undefined;
  /** Roles it may run on; empty: any. */
  targetRoles: readonly string[];
  sessionKey?: string | undefined;
  input: JsonValue;
  /** Already validated; `{}` counts as none. Never logged. */
  routingInput?: JsonObject | undefined;
  /** The binding as the caller wrote it: trimmed and checked here (ruling 20). */
  requiredWorker?: string | undefined;
  /** The hint as the caller wrote it: trimmed here, dropped where anything is wrong with it. */
  preferredWorker?: string | undefined;
  /** 0: wait for ever. Absent or null: the server's default. */
  parkTtlSeconds?: number | null | undefined;
  priority: number;
  /** Raw UUIDs (32 hex digits). */
  parentId?: string | undefined;
  retryOf?: string | undefined;
  idempotency?: Idempotency | undefined;
}

export interface Idempotency {
  /** As the caller sent it; belongs to the principal. */
  key: string;
  /** Name of the mutation, e.g. `runWorkflow`. */
  mutation: string;
  /** HMAC of the whole input, routing input too. */
  fingerprint: Uint8Array;
}

/** What became of one item. `replayed`: the idempotency key was known, and this is its first result. */
export type SubmitOutcome = { id: string; replayed: boolean } | { error: MusterError };

/** The variant was removed, or its deployment deleted, after it had been picked: nothing was stored, and another pick may find one. */
export class VariantGoneError extends MusterError {
  constructor(variant: string) {
    super('CONFLICT', `Variant ${variant} was removed at this very moment. Try again.`, { field: 'deployment' });
  }
}
