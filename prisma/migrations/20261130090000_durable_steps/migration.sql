-- Durable execution: what a handler did is recorded as steps, and an execution that waits is on no worker. Columns are only added, with
-- defaults, so that a replica of the release before goes on.

-- An open step waits: a TIMER until `wake_at`, a RESUME until somebody resumes, a CALL until its child has ended. `generation` of a done step is the
-- first one whose handler sees it as done, `done_order` the worker's count of results that reached the handler.
ALTER TABLE step
  ADD COLUMN done       bool NOT NULL DEFAULT true,
  ADD COLUMN error      json,
  ADD COLUMN child_id   uuid,
  ADD COLUMN done_order int,
  ADD COLUMN wake_at    timestamptz(3);

-- `awaited`: positions of the steps of which any ends the pause; `waiting_position`: the one that `waiting` is about.
-- `signals` counts what ended for it while it ran: a suspension that read the steps before sees by it that they are out of date.
-- `parent_position`: the step of the parent that this execution is the call of.
-- `cancel_children`: it was cancelled, and children of it may go on.
-- `last_worker`: where it was paused; the hint of its next dispatch, so that a warm worker gets it back.
ALTER TABLE execution
  ADD COLUMN parent_position  int,
  ADD COLUMN waiting_position int,
  ADD COLUMN signals          int NOT NULL DEFAULT 0,
  ADD COLUMN step_count       int NOT NULL DEFAULT 0,
  ADD COLUMN step_bytes       int NOT NULL DEFAULT 0,
  ADD COLUMN child_count      int NOT NULL DEFAULT 0,
  ADD COLUMN cancel_children  bool NOT NULL DEFAULT false,
  ADD COLUMN awaited          int[],
  ADD COLUMN last_worker      text COLLATE "C";

CREATE INDEX execution_cancel_children ON execution (id) WHERE cancel_children;

-- What an attempt that ended in a pause waited for.
ALTER TABLE attempt ADD COLUMN waiting json;

-- A UUID v7 of an instant, for rows that a statement makes by itself.
CREATE FUNCTION uuid_v7_at(at timestamptz) RETURNS uuid
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
RETURN overlay(replace(gen_random_uuid()::text, '-', '')
  PLACING lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' FROM 1 FOR 13)::uuid;

-- As before; an attempt that ended in a pause is PAUSED, with what it waited for.
CREATE OR REPLACE VIEW execution_timeline AS
  SELECT x.id AS execution_id, t.sequence, t.type, t.at, t.worker, t.generation, t.data
  FROM execution x
  CROSS JOIN LATERAL (VALUES
    (1, 'CREATED', x.created_at, NULL::text, 0, NULL::json),
    (x.scheduled_seq, 'SCHEDULED', x.scheduled_at, x.worker_name, x.generation, NULL),
    (x.claimed_seq, 'CLAIMED', x.claimed_at, x.worker_name, x.generation, NULL),
    (x.started_seq, 'STARTED', x.started_at, x.worker_name, x.generation, NULL),
    (x.finished_seq, x.finished_state, x.finished_at, x.worker_name, x.generation, x.error)
  ) AS t (sequence, type, at, worker, generation, data)
  WHERE t.sequence IS NOT NULL
UNION ALL
  SELECT a.execution_id, t.sequence, t.type, t.at, a.worker_name, a.generation, t.data
  FROM attempt a
  CROSS JOIN LATERAL (VALUES
    (a.scheduled_seq, 'SCHEDULED', a.scheduled_at, NULL::json),
    (a.claimed_seq, 'CLAIMED', a.claimed_at, NULL),
    (a.started_seq, 'STARTED', a.started_at, NULL),
    (a.ended_seq, CASE a.outcome WHEN 'PAUSED' THEN 'PAUSED' ELSE 'ATTEMPT_' || a.outcome END, a.ended_at, coalesce(a.error, a.waiting))
  ) AS t (sequence, type, at, data)
  WHERE t.sequence IS NOT NULL
UNION ALL
  -- An event is never older than its execution: the join lets the planner leave out the partitions before it.
  SELECT e.execution_id, e.sequence, e.type, e.at, e.worker, e.generation, e.data
  FROM execution x JOIN event e ON e.execution_id = x.id AND e.id >= x.id;
