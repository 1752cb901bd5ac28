-- Everything Muster stores. Runs on PostgreSQL 15 and later, and on the embedded database.
--
-- Conventions: states and reasons are text with a CHECK, so that a release can add one without a lock; names and keys are
-- COLLATE "C", so that SQL orders them by code point as the code does; JSON that users wrote is `json`, because jsonb refuses \u0000 and
-- lone surrogates; ids of executions, events, decisions and audit entries are UUID v7 that the server makes from the database's
-- clock, so that they sort by time. The tables that every execution writes have no foreign keys.

-- ── What is executed ────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE workflow (
  id          int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace   text COLLATE "C" NOT NULL,
  name        text COLLATE "C" NOT NULL,
  description text,
  created_by  text COLLATE "C" NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT workflow_ref UNIQUE (namespace, name)
);

-- Immutable. `fingerprint` is a hash of everything that a registration says, so that the same registration makes no new version.
CREATE TABLE workflow_version (
  id            int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workflow_id   int NOT NULL REFERENCES workflow (id) ON DELETE CASCADE,
  number        int NOT NULL,
  routing       json,
  routing_text  text,
  affinity      json,
  affinity_text text,
  requests      json,
  runner        text COLLATE "C",
  max_attempts  smallint NOT NULL CHECK (max_attempts >= 1),
  timeout_s     int CHECK (timeout_s > 0),
  fingerprint   bytea NOT NULL,
  created_by    text COLLATE "C" NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT workflow_version_number UNIQUE (workflow_id, number)
);

-- ── Who is called, and what stands behind the name ──────────────────────────────────────────────────────────────────

CREATE TABLE deployment (
  id          int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  slug        text COLLATE "C" NOT NULL CONSTRAINT deployment_slug UNIQUE,
  module      text COLLATE "C",
  description text,
  variants    jsonb NOT NULL,
  revision    int NOT NULL DEFAULT 1,
  created_at  timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  updated_at  timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  updated_by  text COLLATE "C" NOT NULL
);

CREATE TABLE deployment_revision (
  deployment_id int NOT NULL REFERENCES deployment (id) ON DELETE CASCADE,
  revision      int NOT NULL,
  variants      jsonb NOT NULL,
  module        text COLLATE "C",
  description   text,
  comment       text,
  author        text COLLATE "C" NOT NULL,
  at            timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (deployment_id, revision)
);

-- ── The registry ────────────────────────────────────────────────────────────────────────────────────────────────────

-- Written at registration, connect, close and by operators; heartbeats go to worker_pulse. A removed worker keeps its row (removed_at), so
-- that decisions and executions can still name it; registering again clears the mark.
CREATE TABLE worker (
  id              int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name            text COLLATE "C" NOT NULL CONSTRAINT worker_name UNIQUE,
  instance        text COLLATE "C" NOT NULL,
  role            text COLLATE "C" NOT NULL,
  hostname        text NOT NULL,
  version         text NOT NULL,
  labels          jsonb NOT NULL DEFAULT '{}',
  services        text[] COLLATE "C" NOT NULL DEFAULT '{}',
  resources       jsonb,
  packages        jsonb NOT NULL DEFAULT '[]',
  runners         text[] COLLATE "C" NOT NULL DEFAULT '{}',
  workflows       text[] COLLATE "C" NOT NULL DEFAULT '{}',
  capacity        int,
  availability    text NOT NULL DEFAULT 'ACTIVE' CHECK (availability IN ('ACTIVE', 'CORDONED', 'DRAINING')),
  availability_by text COLLATE "C",
  availability_at timestamptz(3),
  principal       text COLLATE "C",
  replica         text COLLATE "C",
  started_at      timestamptz(3) NOT NULL,
  registered_at   timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  connected_at    timestamptz(3),
  disconnected_at timestamptz(3),
  left_at         timestamptz(3),
  removed_at      timestamptz(3),
  -- Instances that a newer registration under this name replaced, the last 8: they may not come back.
  replaced        text[] COLLATE "C" NOT NULL DEFAULT '{}',
  revision        int NOT NULL DEFAULT 1
);

CREATE TABLE worker_metadata (
  worker_id int NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
  key       text COLLATE "C" NOT NULL,
  value     jsonb NOT NULL CHECK (jsonb_typeof(value) IN ('string', 'number')),
  at        timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  by        text COLLATE "C" NOT NULL,
  PRIMARY KEY (worker_id, key)
);

-- Heartbeats. Unlogged: empty after a crash of the database, and an absent row means "not heard since this database started".
CREATE UNLOGGED TABLE worker_pulse (
  worker_id  int PRIMARY KEY,
  instance   text COLLATE "C" NOT NULL,
  seen_at    timestamptz(3) NOT NULL,
  metrics_at timestamptz(3),
  healthy    bool NOT NULL,
  draining   bool NOT NULL DEFAULT false,
  checks     jsonb NOT NULL DEFAULT '[]',
  metrics    jsonb
) WITH (fillfactor = 50);

-- ── The leader of the dispatch ──────────────────────────────────────────────────────────────────────────────────────

-- One row. `min_version` keeps replicas of an older release from leading.
CREATE TABLE leadership (
  one         bool PRIMARY KEY DEFAULT true CHECK (one),
  epoch       bigint NOT NULL DEFAULT 0,
  holder      text COLLATE "C" NOT NULL DEFAULT '',
  expires_at  timestamptz NOT NULL DEFAULT 'epoch',
  min_version int NOT NULL DEFAULT 1
) WITH (fillfactor = 50);
INSERT INTO leadership DEFAULT VALUES;

-- ── Executions ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- No index may name `state`: the booleans and `finished_state` carry the partial indexes, so that SCHEDULED → CLAIMED → RUNNING stays a HOT update
-- and every guarded UPDATE finds its row by the primary key. Columns stand in order of alignment.
CREATE TABLE execution (
  id                  uuid PRIMARY KEY,
  -- written at submission
  parent_id           uuid,
  retry_of            uuid,
  created_at          timestamptz(3) NOT NULL,
  -- written under the guard of state and generation
  queued_at           timestamptz(3) NOT NULL,
  updated_at          timestamptz(3) NOT NULL,
  scheduled_at        timestamptz(3),
  claimed_at          timestamptz(3),
  started_at          timestamptz(3),
  finished_at         timestamptz(3),
  cancel_requested_at timestamptz(3),
  parked_since        timestamptz(3),
  park_deadline       timestamptz(3),
  not_before          timestamptz(3),
  wake_at             timestamptz(3),
  waiting_child       uuid,
  version_id          int NOT NULL,
  deployment_id       int,
  park_ttl_s          int,
  worker_id           int,
  skip_worker_id      int,
  generation          int NOT NULL DEFAULT 0,
  revision            int NOT NULL DEFAULT 1,
  event_seq           int NOT NULL DEFAULT 1,
  scheduled_seq       int,
  claimed_seq         int,
  started_seq         int,
  finished_seq        int,
  priority            smallint NOT NULL DEFAULT 0 CHECK (priority BETWEEN -1000 AND 1000),
  attempt             smallint NOT NULL DEFAULT 0,
  queued              bool NOT NULL DEFAULT true,
  live                bool NOT NULL DEFAULT false,
  parked              bool NOT NULL DEFAULT false,
  -- came back from a pause: a release makes it RESUMING again, and its next claim goes on with the same attempt
  resumed             bool NOT NULL DEFAULT false,
  state               text NOT NULL DEFAULT 'PENDING',
  finished_state      text,
  variant             text COLLATE "C",
  target_roles        text[] COLLATE "C" NOT NULL DEFAULT '{}',
  session_key         text COLLATE "C",
  submitted_by        text COLLATE "C" NOT NULL,
  required_worker     text COLLATE "C",
  preferred_worker    text COLLATE "C",
  worker_name         text COLLATE "C",
  instance            text COLLATE "C",
  parked_reason       text,
  waiting             text CHECK (waiting IN ('RESUME', 'TIMER', 'CHILD')),
  waiting_name        text,
  input               json,
  output              json,
  error               json,
  CONSTRAINT execution_state CHECK (
    CASE state
      WHEN 'PENDING'    THEN queued AND NOT live AND worker_id IS NULL AND finished_state IS NULL AND waiting IS NULL
      WHEN 'RESUMING'   THEN queued AND NOT live AND worker_id IS NULL AND finished_state IS NULL AND waiting IS NULL
      WHEN 'SCHEDULED'  THEN live AND NOT queued AND NOT parked AND worker_id IS NOT NULL AND finished_state IS NULL AND waiting IS NULL
      WHEN 'CLAIMED'    THEN live AND NOT queued AND NOT parked AND worker_id IS NOT NULL AND finished_state IS NULL AND waiting IS NULL
      WHEN 'RUNNING'    THEN live AND NOT queued AND NOT parked AND worker_id IS NOT NULL AND finished_state IS NULL AND waiting IS NULL
      WHEN 'CANCELLING' THEN live AND NOT queued AND NOT parked AND worker_id IS NOT NULL AND finished_state IS NULL AND waiting IS NULL
      WHEN 'PAUSED'     THEN NOT live AND NOT queued AND NOT parked AND finished_state IS NULL AND waiting IS NOT NULL
      WHEN 'COMPLETED'  THEN NOT live AND NOT queued AND NOT parked AND finished_state IS NOT NULL AND finished_state = state AND waiting IS NULL
      WHEN 'FAILED'     THEN NOT live AND NOT queued AND NOT parked AND finished_state IS NOT NULL AND finished_state = state AND waiting IS NULL
      WHEN 'CANCELLED'  THEN NOT live AND NOT queued AND NOT parked AND finished_state IS NOT NULL AND finished_state = state AND waiting IS NULL
      ELSE false
    END
  )
) WITH (fillfactor = 80);

CREATE INDEX execution_queue ON execution (priority DESC, id) WHERE queued;
CREATE INDEX execution_park_deadline ON execution (park_deadline) WHERE queued AND park_deadline IS NOT NULL;
CREATE INDEX execution_wake ON execution (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX execution_live ON execution (id) WHERE live;
CREATE INDEX execution_worker ON execution (worker_id, id) WHERE worker_id IS NOT NULL;
CREATE INDEX execution_waiting ON execution (id) WHERE waiting IS NOT NULL;
CREATE INDEX execution_version ON execution (version_id, id);
CREATE INDEX execution_deployment ON execution (deployment_id, id) WHERE deployment_id IS NOT NULL;
CREATE INDEX execution_finished ON execution (finished_state, id) WHERE finished_state IS NOT NULL;
CREATE INDEX execution_session ON execution (session_key, id) WHERE session_key IS NOT NULL;
CREATE INDEX execution_parent ON execution (parent_id, id) WHERE parent_id IS NOT NULL;

-- Matched at dispatch, never delivered, never read back: no API type maps this table.
CREATE TABLE execution_routing (
  execution_id uuid PRIMARY KEY,
  value        json NOT NULL
);

-- Only for requests that sent a key. `hmac` covers the whole input, routing input too, without revealing it.
CREATE TABLE idempotency (
  principal    text COLLATE "C" NOT NULL,
  mutation     text COLLATE "C" NOT NULL,
  key          text COLLATE "C" NOT NULL,
  hmac         bytea NOT NULL,
  execution_id uuid,
  answer       json,
  at           timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (principal, mutation, key)
);
CREATE INDEX idempotency_at ON idempotency (at);

-- An assignment that was superseded; the present one stands in the columns of its execution.
CREATE TABLE attempt (
  execution_id  uuid NOT NULL,
  scheduled_at  timestamptz(3) NOT NULL,
  claimed_at    timestamptz(3),
  started_at    timestamptz(3),
  ended_at      timestamptz(3) NOT NULL,
  generation    int NOT NULL,
  worker_id     int NOT NULL,
  scheduled_seq int NOT NULL,
  claimed_seq   int,
  started_seq   int,
  ended_seq     int NOT NULL,
  number        smallint NOT NULL,
  outcome       text NOT NULL CHECK (outcome IN ('FAILED', 'CRASHED', 'TIMED_OUT', 'WORKER_LOST', 'UNCLAIMED', 'PAUSED', 'CANCELLED')),
  worker_name   text COLLATE "C" NOT NULL,
  instance      text COLLATE "C" NOT NULL,
  error         json,
  PRIMARY KEY (execution_id, generation)
);
CREATE INDEX attempt_worker ON attempt (worker_id, execution_id);

-- What durable tasks recorded.
CREATE TABLE step (
  execution_id uuid NOT NULL,
  position     int NOT NULL,
  generation   int NOT NULL,
  at           timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  kind         text NOT NULL,
  name         text NOT NULL,
  result       json,
  PRIMARY KEY (execution_id, position)
);

-- ── What happened, and why ──────────────────────────────────────────────────────────────────────────────────────────
-- Insert-only, one partition a day: retention drops partitions.

-- None on the happy path: lifecycle transitions are columns, see execution_timeline. `sequence` comes from execution.event_seq.
CREATE TABLE event (
  id           uuid PRIMARY KEY,
  execution_id uuid NOT NULL,
  at           timestamptz(3) NOT NULL,
  sequence     int NOT NULL,
  generation   int NOT NULL,
  type         text NOT NULL,
  worker       text COLLATE "C",
  data         json
) PARTITION BY RANGE (id);
CREATE INDEX event_execution ON event (execution_id, sequence);

-- One dispatch attempt. Names, roles, term values and rejections stand in its frame; `kept` and `refs` are positions in it, `loads` go beside `kept`.
-- `n` is the event_seq of the guarded UPDATE that wrote it.
CREATE TABLE decision (
  id           uuid PRIMARY KEY,
  execution_id uuid NOT NULL,
  frame_id     uuid,
  wait_ms      double precision NOT NULL,
  duration_us  double precision NOT NULL,
  n            int NOT NULL,
  generation   int NOT NULL,
  version_id   int NOT NULL,
  winner       int,
  eligible     int NOT NULL,
  rejected     int NOT NULL,
  attempt      smallint NOT NULL,
  blinded      bool NOT NULL DEFAULT false,
  outcome      text NOT NULL CHECK (outcome IN ('ASSIGNED', 'PARKED', 'FAILED')),
  method       text NOT NULL CHECK (method IN ('ROUTING', 'LEAST_LOADED', 'HINT')),
  reason       text,
  degraded     text,
  kept         smallint[] NOT NULL DEFAULT '{}',
  loads        int[] NOT NULL DEFAULT '{}',
  refs         smallint[] NOT NULL DEFAULT '{}'
) PARTITION BY RANGE (id);
CREATE INDEX decision_execution ON decision (execution_id, id);

-- Content-addressed by `data` as stored: blinded, then compressed. Shared by the decisions of a batch.
CREATE TABLE decision_frame (
  id         uuid PRIMARY KEY,
  version_id int NOT NULL,
  blinded    bool NOT NULL,
  hash       bytea NOT NULL,
  workers    int[] NOT NULL,
  data       bytea NOT NULL
) PARTITION BY RANGE (id);

-- A row that no day takes is never refused.
CREATE TABLE event_default PARTITION OF event DEFAULT;
CREATE TABLE decision_default PARTITION OF decision DEFAULT;
CREATE TABLE decision_frame_default PARTITION OF decision_frame DEFAULT;

-- The smallest UUID v7 of an instant: where a day's partition begins.
CREATE FUNCTION uuid_v7_floor(at timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid;

-- Makes the partitions from the day of `today` to `ahead` days later and drops those whose day ended `keep` days before it or earlier (null: none);
-- answers the names of what it made and dropped. A day of which the default partition already holds rows stays there.
CREATE FUNCTION maintain_partitions(today timestamptz, ahead int, keep int) RETURNS TABLE (done text, partition text)
LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
  parent text;
  day date := (today AT TIME ZONE 'UTC')::date;
  d date;
  child text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['event', 'decision', 'decision_frame'] LOOP
    FOR offset_days IN 0..ahead LOOP
      d := day + offset_days;
      child := parent || '_' || to_char(d, 'YYYYMMDD');
      CONTINUE WHEN to_regclass(child) IS NOT NULL;
      BEGIN
        -- LIKE and ATTACH instead of PARTITION OF: writers of the parent go on meanwhile.
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', child, parent);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, child,
          uuid_v7_floor(d::timestamp AT TIME ZONE 'UTC'), uuid_v7_floor((d + 1)::timestamp AT TIME ZONE 'UTC'));
        done := 'created';
        partition := child;
        RETURN NEXT;
      EXCEPTION WHEN check_violation OR duplicate_table THEN
        NULL;
      END;
    END LOOP;
    IF keep IS NOT NULL THEN
      FOR child IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = parent::regclass AND c.relname ~ ('^' || parent || '_[0-9]{8}$')
          AND to_date(right(c.relname, 8), 'YYYYMMDD') < day - keep
        ORDER BY c.relname
      LOOP
        EXECUTE format('DROP TABLE %I', child);
        done := 'dropped';
        partition := child;
        RETURN NEXT;
      END LOOP;
    END IF;
  END LOOP;
END $$;

-- The whole history of an execution in order: its lifecycle from the columns, superseded assignments, and the event rows.
CREATE VIEW execution_timeline AS
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
    (a.ended_seq, 'ATTEMPT_' || a.outcome, a.ended_at, a.error)
  ) AS t (sequence, type, at, data)
  WHERE t.sequence IS NOT NULL
UNION ALL
  -- An event is never older than its execution: the join lets the planner leave out the partitions before it.
  SELECT e.execution_id, e.sequence, e.type, e.at, e.worker, e.generation, e.data
  FROM execution x JOIN event e ON e.execution_id = x.id AND e.id >= x.id;

-- ── Figures, secrets, schedules ─────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE fleet_minute (
  at   timestamptz(0) PRIMARY KEY,
  data json NOT NULL
);

-- Keys for HMACs and cookies, made when the database is first migrated.
CREATE TABLE secret (
  name  text COLLATE "C" PRIMARY KEY,
  value bytea NOT NULL
);

CREATE TABLE schedule (
  id                int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name              text COLLATE "C" NOT NULL CONSTRAINT schedule_name UNIQUE,
  workflow_id       int REFERENCES workflow (id) ON DELETE CASCADE,
  deployment_id     int REFERENCES deployment (id) ON DELETE CASCADE,
  version_id        int,
  cron              text NOT NULL,
  time_zone         text NOT NULL DEFAULT 'UTC',
  overlap           text NOT NULL DEFAULT 'SKIP' CHECK (overlap IN ('SKIP', 'ALLOW')),
  priority          smallint NOT NULL DEFAULT 0 CHECK (priority BETWEEN -1000 AND 1000),
  park_ttl_s        int,
  session_key       text COLLATE "C",
  input             json,
  routing_input     json,
  paused            bool NOT NULL DEFAULT false,
  next_at           timestamptz(3),
  last_at           timestamptz(3),
  last_execution_id uuid,
  revision          int NOT NULL DEFAULT 1,
  created_by        text COLLATE "C" NOT NULL,
  created_at        timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  updated_at        timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT schedule_target CHECK (num_nonnulls(workflow_id, deployment_id) = 1)
);
CREATE INDEX schedule_next ON schedule (next_at) WHERE NOT paused;

-- ── Who may do what, and who did what ───────────────────────────────────────────────────────────────────────────────

CREATE TABLE role (
  name        text COLLATE "C" PRIMARY KEY,
  permissions text[] COLLATE "C" NOT NULL,
  built_in    bool NOT NULL DEFAULT false,
  updated_at  timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE principal (
  id          int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text COLLATE "C" NOT NULL CONSTRAINT principal_name UNIQUE,
  kind        text NOT NULL CHECK (kind IN ('USER', 'SERVICE', 'WORKER')),
  roles       text[] COLLATE "C" NOT NULL DEFAULT '{}',
  disabled_at timestamptz(3),
  created_by  text COLLATE "C" NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

-- The token itself is shown once and never stored; `prefix` is enough to recognise it in a list.
CREATE TABLE token (
  id           int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  principal_id int NOT NULL REFERENCES principal (id) ON DELETE CASCADE,
  name         text COLLATE "C" NOT NULL,
  prefix       text COLLATE "C" NOT NULL,
  hash         bytea NOT NULL CONSTRAINT token_hash UNIQUE,
  services     text[] COLLATE "C" NOT NULL DEFAULT '{}',
  created_by   text COLLATE "C" NOT NULL,
  created_at   timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  expires_at   timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at   timestamptz(3)
);
CREATE INDEX token_principal ON token (principal_id);

CREATE TABLE login_session (
  hash         bytea PRIMARY KEY,
  principal_id int NOT NULL REFERENCES principal (id) ON DELETE CASCADE,
  created_at   timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  seen_at      timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  expires_at   timestamptz(3) NOT NULL
);
CREATE INDEX login_session_principal ON login_session (principal_id);
CREATE INDEX login_session_expires ON login_session (expires_at);

-- Append-only. Sealing gives an entry its place in the hash chain, once.
CREATE TABLE audit (
  id         uuid PRIMARY KEY,
  at         timestamptz(3) NOT NULL,
  actor      text COLLATE "C" NOT NULL,
  action     text COLLATE "C" NOT NULL,
  target     text COLLATE "C",
  request_id text COLLATE "C",
  data       json,
  position   bigint CONSTRAINT audit_position UNIQUE,
  hash       bytea
);
CREATE INDEX audit_target ON audit (target, id) WHERE target IS NOT NULL;
CREATE INDEX audit_actor ON audit (actor, id);

CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.position IS NULL AND OLD.hash IS NULL AND NEW.position IS NOT NULL AND NEW.hash IS NOT NULL
     AND (NEW.id, NEW.at, NEW.actor, NEW.action) = (OLD.id, OLD.at, OLD.actor, OLD.action)
     AND (NEW.target, NEW.request_id, NEW.data::text) IS NOT DISTINCT FROM (OLD.target, OLD.request_id, OLD.data::text) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_append_only();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only();

SELECT maintain_partitions(clock_timestamp(), 2, NULL);
