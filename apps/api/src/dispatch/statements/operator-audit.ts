/**
 * A common table expression that notes what was done to executions of others; one's own leave no entry, their rows and events tell it. It reads `source`,
 * which has `id`, `state`, `submitted_by`, `by`, `audit_id` (null: nobody asked for it, the server did it by itself), `address` and `request_id`. The state before
 * is the one that the statement found.
 */
export function auditOthers(source: string, action: string): string {
  return `audited AS (
  INSERT INTO audit (id, at, actor, action, target, address, request_id, data)
  SELECT o.audit_id, to_timestamp(('x' || left(replace(o.audit_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0), o.by, '${action}',
    'execution:ex_' || replace(o.id::text, '-', ''), o.address, o.request_id, json_build_object(
      'before', json_build_object('state', (SELECT p.state FROM execution p WHERE p.id = o.id)), 'after', json_build_object('state', o.state))
  FROM ${source} o WHERE o.audit_id IS NOT NULL AND o.submitted_by <> o.by
)`;
}

/** What goes with an action on an execution, should it be somebody else's. */
export interface OperatorNote {
  /** Raw UUID v7 of the entry. */
  readonly id: string;
  readonly address: string | null;
  readonly requestId: string | null;
}
