-- Schedules. Columns are only added: nothing has read this table before. `workflow_id`, `deployment_id` and `routing_input` stay empty from here on,
-- and go in a later release.

-- The target is named, not referred to: a schedule outlives what it calls, says so in `last_error`, and works again when it is there again.
-- `kind` says which of `cron`, `interval_s` with `anchor_at` (its runs lie at whole multiples from there) and `once_at` is set.
-- `next_at` is null while paused, after the last run, and where the timing could not be read (then `last_error` says so).
-- `queued_at`: the run that waits until the one before has ended. `last_at`: the run that `last_result` is about, as planned; `last_result_at`: when that was.
-- `revision` counts what users changed; runs leave it alone.
ALTER TABLE schedule
  ALTER COLUMN cron DROP NOT NULL,
  ADD COLUMN description    text,
  ADD COLUMN kind           text NOT NULL DEFAULT 'CRON' CONSTRAINT schedule_kind CHECK (kind IN ('CRON', 'INTERVAL', 'ONCE')),
  ADD COLUMN interval_s     int CHECK (interval_s > 0),
  ADD COLUMN anchor_at      timestamptz(3),
  ADD COLUMN once_at        timestamptz(3),
  ADD COLUMN workflow       text COLLATE "C",
  ADD COLUMN deployment     text COLLATE "C",
  ADD COLUMN catch_up_limit int NOT NULL DEFAULT 1 CHECK (catch_up_limit >= 0),
  ADD COLUMN paused_by      text COLLATE "C",
  ADD COLUMN paused_at      timestamptz(3),
  ADD COLUMN queued_at      timestamptz(3),
  ADD COLUMN last_result    text CONSTRAINT schedule_result CHECK (last_result IN ('STARTED', 'SKIPPED', 'QUEUED', 'MISSED', 'FAILED')),
  ADD COLUMN last_result_at timestamptz(3),
  ADD COLUMN last_error     json,
  ADD COLUMN last_error_at  timestamptz(3),
  ADD COLUMN started_count  int NOT NULL DEFAULT 0,
  ADD COLUMN skipped_count  int NOT NULL DEFAULT 0,
  ADD COLUMN missed_count   int NOT NULL DEFAULT 0,
  ADD COLUMN failed_count   int NOT NULL DEFAULT 0,
  ADD COLUMN updated_by     text COLLATE "C" NOT NULL DEFAULT '',
  DROP CONSTRAINT schedule_target,
  ADD CONSTRAINT schedule_target CHECK (num_nonnulls(workflow, deployment, workflow_id, deployment_id) = 1),
  DROP CONSTRAINT schedule_overlap_check,
  ADD CONSTRAINT schedule_overlap_check CHECK (overlap IN ('SKIP', 'QUEUE_ONE', 'ALLOW', 'REPLACE')),
  ADD CONSTRAINT schedule_timing CHECK (
    CASE kind
      WHEN 'CRON'     THEN cron IS NOT NULL AND interval_s IS NULL AND anchor_at IS NULL AND once_at IS NULL
      WHEN 'INTERVAL' THEN cron IS NULL AND interval_s IS NOT NULL AND anchor_at IS NOT NULL AND once_at IS NULL
      WHEN 'ONCE'     THEN cron IS NULL AND interval_s IS NULL AND anchor_at IS NULL AND once_at IS NOT NULL
    END
  );
CREATE INDEX schedule_queued ON schedule (id) WHERE queued_at IS NOT NULL;

-- Copied to the executions that it starts, never read back: no API type maps this table.
CREATE TABLE schedule_routing (
  schedule_id int PRIMARY KEY REFERENCES schedule (id) ON DELETE CASCADE,
  value       json NOT NULL
);

-- Which schedule started it, and for which of its runs (null: started by hand). What has not ended holds up the next run; the index has no entry for
-- executions without a schedule.
ALTER TABLE execution
  ADD COLUMN schedule_run timestamptz(3),
  ADD COLUMN schedule_id  int;
CREATE INDEX execution_schedule ON execution (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX execution_schedule_open ON execution (schedule_id) WHERE schedule_id IS NOT NULL AND finished_state IS NULL;
