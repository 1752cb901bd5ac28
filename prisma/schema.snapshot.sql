-- Written by "pnpm --filter @muster/db snapshot". Not run by anything: a test compares it with a migrated database.


TABLE attempt
  execution_id uuid NOT NULL
  scheduled_at timestamp(3) with time zone NOT NULL
  claimed_at timestamp(3) with time zone
  started_at timestamp(3) with time zone
  ended_at timestamp(3) with time zone NOT NULL
  generation integer NOT NULL
  worker_id integer NOT NULL
  scheduled_seq integer NOT NULL
  claimed_seq integer
  started_seq integer
  ended_seq integer NOT NULL
  number smallint NOT NULL
  outcome text NOT NULL
  worker_name text COLLATE "C" NOT NULL
  instance text COLLATE "C" NOT NULL
  error json
  waiting json
  CONSTRAINT attempt_outcome_check CHECK ((outcome = ANY (ARRAY['FAILED'::text, 'CRASHED'::text, 'TIMED_OUT'::text, 'WORKER_LOST'::text, 'UNCLAIMED'::text, 'PAUSED'::text, 'CANCELLED'::text])))
  CONSTRAINT attempt_pkey PRIMARY KEY (execution_id, generation)
  CREATE UNIQUE INDEX attempt_pkey ON public.attempt USING btree (execution_id, generation)
  CREATE INDEX attempt_worker ON public.attempt USING btree (worker_id, execution_id)

TABLE audit
  id uuid NOT NULL
  at timestamp(3) with time zone NOT NULL
  actor text COLLATE "C" NOT NULL
  action text COLLATE "C" NOT NULL
  target text COLLATE "C"
  request_id text COLLATE "C"
  data json
  position bigint
  hash bytea
  address text COLLATE "C"
  CONSTRAINT audit_pkey PRIMARY KEY (id)
  CONSTRAINT audit_position UNIQUE ("position")
  CREATE INDEX audit_action ON public.audit USING btree (action, id)
  CREATE INDEX audit_actor ON public.audit USING btree (actor, id)
  CREATE UNIQUE INDEX audit_pkey ON public.audit USING btree (id)
  CREATE UNIQUE INDEX audit_position ON public.audit USING btree ("position")
  CREATE INDEX audit_target ON public.audit USING btree (target, id) WHERE (target IS NOT NULL)
  CREATE INDEX audit_unsealed ON public.audit USING btree (id) WHERE ("position" IS NULL)
  CREATE TRIGGER audit_append_only BEFORE DELETE OR UPDATE ON public.audit FOR EACH ROW EXECUTE FUNCTION audit_append_only()
  CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON public.audit FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only()
  CREATE TRIGGER audit_unsealed_first BEFORE INSERT ON public.audit FOR EACH ROW EXECUTE FUNCTION audit_unsealed_first()

TABLE audit_head
  one boolean NOT NULL DEFAULT true
  position bigint NOT NULL DEFAULT 0
  hash bytea NOT NULL DEFAULT decode(repeat('00'::text, 32), 'hex'::text)
  sealed_at timestamp(3) with time zone
  CONSTRAINT audit_head_hash_check CHECK ((octet_length(hash) = 32))
  CONSTRAINT audit_head_one_check CHECK (one)
  CONSTRAINT audit_head_pkey PRIMARY KEY (one)
  CREATE UNIQUE INDEX audit_head_pkey ON public.audit_head USING btree (one)
  CREATE TRIGGER audit_head_forward BEFORE DELETE OR UPDATE ON public.audit_head FOR EACH ROW EXECUTE FUNCTION audit_head_forward()
  CREATE TRIGGER audit_head_no_truncate BEFORE TRUNCATE ON public.audit_head FOR EACH STATEMENT EXECUTE FUNCTION audit_head_forward()

TABLE decision PARTITION BY RANGE (id)
  id uuid NOT NULL
  execution_id uuid NOT NULL
  frame_id uuid
  wait_ms double precision NOT NULL
  duration_us double precision NOT NULL
  n integer NOT NULL
  generation integer NOT NULL
  version_id integer NOT NULL
  winner integer
  eligible integer NOT NULL
  rejected integer NOT NULL
  attempt smallint NOT NULL
  blinded boolean NOT NULL DEFAULT false
  outcome text NOT NULL
  method text NOT NULL
  reason text
  degraded text
  kept smallint[] NOT NULL DEFAULT '{}'::smallint[]
  loads integer[] NOT NULL DEFAULT '{}'::integer[]
  refs smallint[] NOT NULL DEFAULT '{}'::smallint[]
  CONSTRAINT decision_method_check CHECK ((method = ANY (ARRAY['ROUTING'::text, 'LEAST_LOADED'::text, 'HINT'::text])))
  CONSTRAINT decision_outcome_check CHECK ((outcome = ANY (ARRAY['ASSIGNED'::text, 'PARKED'::text, 'FAILED'::text])))
  CONSTRAINT decision_pkey PRIMARY KEY (id)
  CREATE INDEX decision_execution ON ONLY public.decision USING btree (execution_id, id)
  CREATE UNIQUE INDEX decision_pkey ON ONLY public.decision USING btree (id)

TABLE decision_default PARTITION OF decision DEFAULT

TABLE decision_frame PARTITION BY RANGE (id)
  id uuid NOT NULL
  version_id integer NOT NULL
  blinded boolean NOT NULL
  hash bytea NOT NULL
  workers integer[] NOT NULL
  data bytea NOT NULL
  CONSTRAINT decision_frame_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX decision_frame_pkey ON ONLY public.decision_frame USING btree (id)

TABLE decision_frame_default PARTITION OF decision_frame DEFAULT

TABLE deployment
  id integer NOT NULL IDENTITY
  slug text COLLATE "C" NOT NULL
  module text COLLATE "C"
  description text
  variants jsonb NOT NULL
  revision integer NOT NULL DEFAULT 1
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  updated_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  updated_by text COLLATE "C" NOT NULL
  CONSTRAINT deployment_pkey PRIMARY KEY (id)
  CONSTRAINT deployment_slug UNIQUE (slug)
  CREATE UNIQUE INDEX deployment_pkey ON public.deployment USING btree (id)
  CREATE UNIQUE INDEX deployment_slug ON public.deployment USING btree (slug)

TABLE deployment_revision
  deployment_id integer NOT NULL
  revision integer NOT NULL
  variants jsonb NOT NULL
  module text COLLATE "C"
  description text
  comment text
  author text COLLATE "C" NOT NULL
  at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  CONSTRAINT deployment_revision_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployment(id) ON DELETE CASCADE
  CONSTRAINT deployment_revision_pkey PRIMARY KEY (deployment_id, revision)
  CREATE UNIQUE INDEX deployment_revision_pkey ON public.deployment_revision USING btree (deployment_id, revision)

TABLE event PARTITION BY RANGE (id)
  id uuid NOT NULL
  execution_id uuid NOT NULL
  at timestamp(3) with time zone NOT NULL
  sequence integer NOT NULL
  generation integer NOT NULL
  type text NOT NULL
  worker text COLLATE "C"
  data json
  CONSTRAINT event_pkey PRIMARY KEY (id)
  CREATE INDEX event_execution ON ONLY public.event USING btree (execution_id, sequence)
  CREATE UNIQUE INDEX event_pkey ON ONLY public.event USING btree (id)

TABLE event_default PARTITION OF event DEFAULT

TABLE execution WITH (fillfactor=80)
  id uuid NOT NULL
  parent_id uuid
  retry_of uuid
  created_at timestamp(3) with time zone NOT NULL
  queued_at timestamp(3) with time zone NOT NULL
  updated_at timestamp(3) with time zone NOT NULL
  scheduled_at timestamp(3) with time zone
  claimed_at timestamp(3) with time zone
  started_at timestamp(3) with time zone
  finished_at timestamp(3) with time zone
  cancel_requested_at timestamp(3) with time zone
  parked_since timestamp(3) with time zone
  park_deadline timestamp(3) with time zone
  not_before timestamp(3) with time zone
  wake_at timestamp(3) with time zone
  waiting_child uuid
  version_id integer NOT NULL
  deployment_id integer
  park_ttl_s integer
  worker_id integer
  skip_worker_id integer
  generation integer NOT NULL DEFAULT 0
  revision integer NOT NULL DEFAULT 1
  event_seq integer NOT NULL DEFAULT 1
  scheduled_seq integer
  claimed_seq integer
  started_seq integer
  finished_seq integer
  priority smallint NOT NULL DEFAULT 0
  attempt smallint NOT NULL DEFAULT 0
  queued boolean NOT NULL DEFAULT true
  live boolean NOT NULL DEFAULT false
  parked boolean NOT NULL DEFAULT false
  resumed boolean NOT NULL DEFAULT false
  state text NOT NULL DEFAULT 'PENDING'::text
  finished_state text
  variant text COLLATE "C"
  target_roles text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  session_key text COLLATE "C"
  submitted_by text COLLATE "C" NOT NULL
  required_worker text COLLATE "C"
  preferred_worker text COLLATE "C"
  worker_name text COLLATE "C"
  instance text COLLATE "C"
  parked_reason text
  waiting text
  waiting_name text
  input json
  output json
  error json
  parent_position integer
  waiting_position integer
  signals integer NOT NULL DEFAULT 0
  step_count integer NOT NULL DEFAULT 0
  step_bytes integer NOT NULL DEFAULT 0
  child_count integer NOT NULL DEFAULT 0
  cancel_children boolean NOT NULL DEFAULT false
  awaited integer[]
  last_worker text COLLATE "C"
  schedule_run timestamp(3) with time zone
  schedule_id integer
  CONSTRAINT execution_pkey PRIMARY KEY (id)
  CONSTRAINT execution_priority_check CHECK (((priority >= '-1000'::integer) AND (priority <= 1000)))
  CONSTRAINT execution_state CHECK (
CASE state
    WHEN 'PENDING'::text THEN (queued AND (NOT live) AND (worker_id IS NULL) AND (finished_state IS NULL) AND (waiting IS NULL))
    WHEN 'RESUMING'::text THEN (queued AND (NOT live) AND (worker_id IS NULL) AND (finished_state IS NULL) AND (waiting IS NULL))
    WHEN 'SCHEDULED'::text THEN (live AND (NOT queued) AND (NOT parked) AND (worker_id IS NOT NULL) AND (finished_state IS NULL) AND (waiting IS NULL))
    WHEN 'CLAIMED'::text THEN (live AND (NOT queued) AND (NOT parked) AND (worker_id IS NOT NULL) AND (finished_state IS NULL) AND (waiting IS NULL))
    WHEN 'RUNNING'::text THEN (live AND (NOT queued) AND (NOT parked) AND (worker_id IS NOT NULL) AND (finished_state IS NULL) AND (waiting IS NULL))
    WHEN 'CANCELLING'::text THEN (live AND (NOT queued) AND (NOT parked) AND (worker_id IS NOT NULL) AND (finished_state IS NULL) AND (waiting IS NULL))
    WHEN 'PAUSED'::text THEN ((NOT live) AND (NOT queued) AND (NOT parked) AND (finished_state IS NULL) AND (waiting IS NOT NULL))
    WHEN 'COMPLETED'::text THEN ((NOT live) AND (NOT queued) AND (NOT parked) AND (finished_state IS NOT NULL) AND (finished_state = state) AND (waiting IS NULL))
    WHEN 'FAILED'::text THEN ((NOT live) AND (NOT queued) AND (NOT parked) AND (finished_state IS NOT NULL) AND (finished_state = state) AND (waiting IS NULL))
    WHEN 'CANCELLED'::text THEN ((NOT live) AND (NOT queued) AND (NOT parked) AND (finished_state IS NOT NULL) AND (finished_state = state) AND (waiting IS NULL))
    ELSE false
END)
  CONSTRAINT execution_waiting_check CHECK ((waiting = ANY (ARRAY['RESUME'::text, 'TIMER'::text, 'CHILD'::text])))
  CREATE INDEX execution_cancel_children ON public.execution USING btree (id) WHERE cancel_children
  CREATE INDEX execution_deployment ON public.execution USING btree (deployment_id, id) WHERE (deployment_id IS NOT NULL)
  CREATE INDEX execution_deployment_waiting ON public.execution USING btree (deployment_id, variant, id) WHERE ((deployment_id IS NOT NULL) AND (NOT live) AND (finished_state IS NULL))
  CREATE INDEX execution_finished ON public.execution USING btree (finished_state, id) WHERE (finished_state IS NOT NULL)
  CREATE INDEX execution_live ON public.execution USING btree (id) WHERE live
  CREATE INDEX execution_parent ON public.execution USING btree (parent_id, id) WHERE (parent_id IS NOT NULL)
  CREATE INDEX execution_park_deadline ON public.execution USING btree (park_deadline) WHERE (queued AND (park_deadline IS NOT NULL))
  CREATE UNIQUE INDEX execution_pkey ON public.execution USING btree (id)
  CREATE INDEX execution_queue ON public.execution USING btree (priority DESC, id) WHERE queued
  CREATE INDEX execution_schedule ON public.execution USING btree (schedule_id, id) WHERE (schedule_id IS NOT NULL)
  CREATE INDEX execution_schedule_open ON public.execution USING btree (schedule_id) WHERE ((schedule_id IS NOT NULL) AND (finished_state IS NULL))
  CREATE INDEX execution_session ON public.execution USING btree (session_key, id) WHERE (session_key IS NOT NULL)
  CREATE INDEX execution_version ON public.execution USING btree (version_id, id)
  CREATE INDEX execution_waiting ON public.execution USING btree (id) WHERE (waiting IS NOT NULL)
  CREATE INDEX execution_wake ON public.execution USING btree (wake_at) WHERE (wake_at IS NOT NULL)
  CREATE INDEX execution_worker ON public.execution USING btree (worker_id, id) WHERE (worker_id IS NOT NULL)

TABLE execution_routing
  execution_id uuid NOT NULL
  value json NOT NULL
  CONSTRAINT execution_routing_pkey PRIMARY KEY (execution_id)
  CREATE UNIQUE INDEX execution_routing_pkey ON public.execution_routing USING btree (execution_id)

VIEW execution_timeline
  execution_id uuid
  sequence integer
  type text
  at timestamp(3) with time zone
  worker text COLLATE "C"
  generation integer
  data json

TABLE fleet_minute
  at timestamp(0) with time zone NOT NULL
  data json NOT NULL
  CONSTRAINT fleet_minute_pkey PRIMARY KEY (at)
  CREATE UNIQUE INDEX fleet_minute_pkey ON public.fleet_minute USING btree (at)

TABLE idempotency
  principal text COLLATE "C" NOT NULL
  mutation text COLLATE "C" NOT NULL
  key text COLLATE "C" NOT NULL
  hmac bytea NOT NULL
  execution_id uuid
  answer json
  at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  CONSTRAINT idempotency_pkey PRIMARY KEY (principal, mutation, key)
  CREATE INDEX idempotency_at ON public.idempotency USING btree (at)
  CREATE UNIQUE INDEX idempotency_pkey ON public.idempotency USING btree (principal, mutation, key)

TABLE installation_token
  hash bytea NOT NULL
  everywhere boolean NOT NULL DEFAULT false
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  revoked_at timestamp(3) with time zone
  CONSTRAINT installation_token_pkey PRIMARY KEY (hash)
  CREATE UNIQUE INDEX installation_token_pkey ON public.installation_token USING btree (hash)

TABLE join_token
  id integer NOT NULL IDENTITY
  hash bytea NOT NULL
  prefix text COLLATE "C" NOT NULL
  description text
  worker text COLLATE "C"
  role text COLLATE "C"
  labels jsonb NOT NULL DEFAULT '{}'::jsonb
  services text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  registers text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  created_by text COLLATE "C" NOT NULL
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  expires_at timestamp(3) with time zone NOT NULL
  used_at timestamp(3) with time zone
  used_by text COLLATE "C"
  revoked_at timestamp(3) with time zone
  CONSTRAINT join_token_hash UNIQUE (hash)
  CONSTRAINT join_token_pkey PRIMARY KEY (id)
  CONSTRAINT join_token_use CHECK (((used_at IS NULL) = (used_by IS NULL)))
  CREATE UNIQUE INDEX join_token_hash ON public.join_token USING btree (hash)
  CREATE UNIQUE INDEX join_token_pkey ON public.join_token USING btree (id)
  CREATE INDEX join_token_worker ON public.join_token USING btree (worker) WHERE (worker IS NOT NULL)

TABLE leadership WITH (fillfactor=50)
  one boolean NOT NULL DEFAULT true
  epoch bigint NOT NULL DEFAULT 0
  holder text COLLATE "C" NOT NULL DEFAULT ''::text
  expires_at timestamp with time zone NOT NULL DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone
  min_version integer NOT NULL DEFAULT 1
  CONSTRAINT leadership_one_check CHECK (one)
  CONSTRAINT leadership_pkey PRIMARY KEY (one)
  CREATE UNIQUE INDEX leadership_pkey ON public.leadership USING btree (one)

TABLE login_session
  hash bytea NOT NULL
  principal_id integer NOT NULL
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  seen_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  expires_at timestamp(3) with time zone NOT NULL
  id uuid NOT NULL DEFAULT gen_random_uuid()
  previous_hash bytea
  token_id integer
  method text NOT NULL DEFAULT 'LINK'::text
  address text
  user_agent text
  rotated_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  CONSTRAINT login_session_hash UNIQUE (hash)
  CONSTRAINT login_session_method CHECK ((method = ANY (ARRAY['LINK'::text, 'TOKEN'::text, 'PASSWORD'::text, 'OIDC'::text])))
  CONSTRAINT login_session_pkey PRIMARY KEY (id)
  CONSTRAINT login_session_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES principal(id) ON DELETE CASCADE
  CONSTRAINT login_session_token_id_fkey FOREIGN KEY (token_id) REFERENCES token(id) ON DELETE CASCADE
  CREATE INDEX login_session_expires ON public.login_session USING btree (expires_at)
  CREATE UNIQUE INDEX login_session_hash ON public.login_session USING btree (hash)
  CREATE UNIQUE INDEX login_session_pkey ON public.login_session USING btree (id)
  CREATE INDEX login_session_previous ON public.login_session USING btree (previous_hash) WHERE (previous_hash IS NOT NULL)
  CREATE INDEX login_session_principal ON public.login_session USING btree (principal_id)
  CREATE INDEX login_session_token ON public.login_session USING btree (token_id) WHERE (token_id IS NOT NULL)

TABLE principal
  id integer NOT NULL IDENTITY
  name text COLLATE "C" NOT NULL
  kind text NOT NULL
  roles text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  disabled_at timestamp(3) with time zone
  created_by text COLLATE "C" NOT NULL
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  password_hash text
  oidc_issuer text COLLATE "C"
  oidc_subject text COLLATE "C"
  revision integer NOT NULL DEFAULT 1
  CONSTRAINT principal_kind_check CHECK ((kind = ANY (ARRAY['USER'::text, 'SERVICE'::text, 'WORKER'::text])))
  CONSTRAINT principal_name UNIQUE (name)
  CONSTRAINT principal_oidc UNIQUE (oidc_issuer, oidc_subject)
  CONSTRAINT principal_oidc_pair CHECK (((oidc_issuer IS NULL) = (oidc_subject IS NULL)))
  CONSTRAINT principal_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX principal_name ON public.principal USING btree (name)
  CREATE UNIQUE INDEX principal_oidc ON public.principal USING btree (oidc_issuer, oidc_subject)
  CREATE UNIQUE INDEX principal_pkey ON public.principal USING btree (id)

TABLE role
  name text COLLATE "C" NOT NULL
  permissions text[] COLLATE "C" NOT NULL
  built_in boolean NOT NULL DEFAULT false
  updated_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  description text
  revision integer NOT NULL DEFAULT 1
  updated_by text COLLATE "C" NOT NULL DEFAULT ''::text
  CONSTRAINT role_pkey PRIMARY KEY (name)
  CREATE UNIQUE INDEX role_pkey ON public.role USING btree (name)

TABLE schedule
  id integer NOT NULL IDENTITY
  name text COLLATE "C" NOT NULL
  workflow_id integer
  deployment_id integer
  version_id integer
  cron text
  time_zone text NOT NULL DEFAULT 'UTC'::text
  overlap text NOT NULL DEFAULT 'SKIP'::text
  priority smallint NOT NULL DEFAULT 0
  park_ttl_s integer
  session_key text COLLATE "C"
  input json
  routing_input json
  paused boolean NOT NULL DEFAULT false
  next_at timestamp(3) with time zone
  last_at timestamp(3) with time zone
  last_execution_id uuid
  revision integer NOT NULL DEFAULT 1
  created_by text COLLATE "C" NOT NULL
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  updated_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  description text
  kind text NOT NULL DEFAULT 'CRON'::text
  interval_s integer
  anchor_at timestamp(3) with time zone
  once_at timestamp(3) with time zone
  workflow text COLLATE "C"
  deployment text COLLATE "C"
  catch_up_limit integer NOT NULL DEFAULT 1
  paused_by text COLLATE "C"
  paused_at timestamp(3) with time zone
  queued_at timestamp(3) with time zone
  last_result text
  last_result_at timestamp(3) with time zone
  last_error json
  last_error_at timestamp(3) with time zone
  started_count integer NOT NULL DEFAULT 0
  skipped_count integer NOT NULL DEFAULT 0
  missed_count integer NOT NULL DEFAULT 0
  failed_count integer NOT NULL DEFAULT 0
  updated_by text COLLATE "C" NOT NULL DEFAULT ''::text
  CONSTRAINT schedule_catch_up_limit_check CHECK ((catch_up_limit >= 0))
  CONSTRAINT schedule_deployment_id_fkey FOREIGN KEY (deployment_id) REFERENCES deployment(id) ON DELETE CASCADE
  CONSTRAINT schedule_interval_s_check CHECK ((interval_s > 0))
  CONSTRAINT schedule_kind CHECK ((kind = ANY (ARRAY['CRON'::text, 'INTERVAL'::text, 'ONCE'::text])))
  CONSTRAINT schedule_name UNIQUE (name)
  CONSTRAINT schedule_overlap_check CHECK ((overlap = ANY (ARRAY['SKIP'::text, 'QUEUE_ONE'::text, 'ALLOW'::text, 'REPLACE'::text])))
  CONSTRAINT schedule_pkey PRIMARY KEY (id)
  CONSTRAINT schedule_priority_check CHECK (((priority >= '-1000'::integer) AND (priority <= 1000)))
  CONSTRAINT schedule_result CHECK ((last_result = ANY (ARRAY['STARTED'::text, 'SKIPPED'::text, 'QUEUED'::text, 'MISSED'::text, 'FAILED'::text])))
  CONSTRAINT schedule_target CHECK ((num_nonnulls(workflow, deployment, workflow_id, deployment_id) = 1))
  CONSTRAINT schedule_timing CHECK (
CASE kind
    WHEN 'CRON'::text THEN ((cron IS NOT NULL) AND (interval_s IS NULL) AND (anchor_at IS NULL) AND (once_at IS NULL))
    WHEN 'INTERVAL'::text THEN ((cron IS NULL) AND (interval_s IS NOT NULL) AND (anchor_at IS NOT NULL) AND (once_at IS NULL))
    WHEN 'ONCE'::text THEN ((cron IS NULL) AND (interval_s IS NULL) AND (anchor_at IS NULL) AND (once_at IS NOT NULL))
    ELSE NULL::boolean
END)
  CONSTRAINT schedule_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflow(id) ON DELETE CASCADE
  CREATE UNIQUE INDEX schedule_name ON public.schedule USING btree (name)
  CREATE INDEX schedule_next ON public.schedule USING btree (next_at) WHERE (NOT paused)
  CREATE UNIQUE INDEX schedule_pkey ON public.schedule USING btree (id)
  CREATE INDEX schedule_queued ON public.schedule USING btree (id) WHERE (queued_at IS NOT NULL)

TABLE schedule_routing
  schedule_id integer NOT NULL
  value json NOT NULL
  CONSTRAINT schedule_routing_pkey PRIMARY KEY (schedule_id)
  CONSTRAINT schedule_routing_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES schedule(id) ON DELETE CASCADE
  CREATE UNIQUE INDEX schedule_routing_pkey ON public.schedule_routing USING btree (schedule_id)

TABLE secret
  name text COLLATE "C" NOT NULL
  value bytea NOT NULL
  CONSTRAINT secret_pkey PRIMARY KEY (name)
  CREATE UNIQUE INDEX secret_pkey ON public.secret USING btree (name)

TABLE step
  execution_id uuid NOT NULL
  position integer NOT NULL
  generation integer NOT NULL
  at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  kind text NOT NULL
  name text NOT NULL
  result json
  done boolean NOT NULL DEFAULT true
  error json
  child_id uuid
  done_order integer
  wake_at timestamp(3) with time zone
  CONSTRAINT step_pkey PRIMARY KEY (execution_id, "position")
  CREATE UNIQUE INDEX step_pkey ON public.step USING btree (execution_id, "position")

TABLE token
  id integer NOT NULL IDENTITY
  principal_id integer NOT NULL
  name text COLLATE "C" NOT NULL
  prefix text COLLATE "C" NOT NULL
  hash bytea NOT NULL
  services text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  created_by text COLLATE "C" NOT NULL
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  expires_at timestamp(3) with time zone
  last_used_at timestamp(3) with time zone
  revoked_at timestamp(3) with time zone
  scopes text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  address text
  CONSTRAINT token_hash UNIQUE (hash)
  CONSTRAINT token_pkey PRIMARY KEY (id)
  CONSTRAINT token_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES principal(id) ON DELETE CASCADE
  CREATE UNIQUE INDEX token_hash ON public.token USING btree (hash)
  CREATE UNIQUE INDEX token_pkey ON public.token USING btree (id)
  CREATE INDEX token_principal ON public.token USING btree (principal_id)

TABLE worker
  id integer NOT NULL IDENTITY
  name text COLLATE "C" NOT NULL
  instance text COLLATE "C" NOT NULL
  role text COLLATE "C" NOT NULL
  hostname text NOT NULL
  version text NOT NULL
  labels jsonb NOT NULL DEFAULT '{}'::jsonb
  services text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  resources jsonb
  packages jsonb NOT NULL DEFAULT '[]'::jsonb
  runners text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  workflows text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  capacity integer
  availability text NOT NULL DEFAULT 'ACTIVE'::text
  availability_by text COLLATE "C"
  availability_at timestamp(3) with time zone
  principal text COLLATE "C"
  replica text COLLATE "C"
  started_at timestamp(3) with time zone NOT NULL
  registered_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  connected_at timestamp(3) with time zone
  disconnected_at timestamp(3) with time zone
  left_at timestamp(3) with time zone
  removed_at timestamp(3) with time zone
  replaced text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  revision integer NOT NULL DEFAULT 1
  CONSTRAINT worker_availability_check CHECK ((availability = ANY (ARRAY['ACTIVE'::text, 'CORDONED'::text, 'DRAINING'::text])))
  CONSTRAINT worker_name UNIQUE (name)
  CONSTRAINT worker_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX worker_name ON public.worker USING btree (name)
  CREATE UNIQUE INDEX worker_pkey ON public.worker USING btree (id)

TABLE worker_credential
  id integer NOT NULL IDENTITY
  hash bytea NOT NULL
  prefix text COLLATE "C" NOT NULL
  worker text COLLATE "C" NOT NULL
  role text COLLATE "C" NOT NULL
  labels jsonb NOT NULL DEFAULT '{}'::jsonb
  services text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  registers text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[]
  join_token_id integer
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  expires_at timestamp(3) with time zone NOT NULL
  last_used_at timestamp(3) with time zone
  replaced_at timestamp(3) with time zone
  revoked_at timestamp(3) with time zone
  revoked_by text COLLATE "C"
  CONSTRAINT worker_credential_hash UNIQUE (hash)
  CONSTRAINT worker_credential_pkey PRIMARY KEY (id)
  CREATE UNIQUE INDEX worker_credential_current ON public.worker_credential USING btree (worker) WHERE ((revoked_at IS NULL) AND (replaced_at IS NULL))
  CREATE UNIQUE INDEX worker_credential_hash ON public.worker_credential USING btree (hash)
  CREATE UNIQUE INDEX worker_credential_pkey ON public.worker_credential USING btree (id)
  CREATE INDEX worker_credential_worker ON public.worker_credential USING btree (worker, id)

TABLE worker_metadata
  worker_id integer NOT NULL
  key text COLLATE "C" NOT NULL
  value jsonb NOT NULL
  at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  by text COLLATE "C" NOT NULL
  CONSTRAINT worker_metadata_pkey PRIMARY KEY (worker_id, key)
  CONSTRAINT worker_metadata_value_check CHECK ((jsonb_typeof(value) = ANY (ARRAY['string'::text, 'number'::text])))
  CONSTRAINT worker_metadata_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES worker(id) ON DELETE CASCADE
  CREATE UNIQUE INDEX worker_metadata_pkey ON public.worker_metadata USING btree (worker_id, key)

UNLOGGED TABLE worker_pulse WITH (fillfactor=50)
  worker_id integer NOT NULL
  instance text COLLATE "C" NOT NULL
  seen_at timestamp(3) with time zone NOT NULL
  metrics_at timestamp(3) with time zone
  healthy boolean NOT NULL
  draining boolean NOT NULL DEFAULT false
  checks jsonb NOT NULL DEFAULT '[]'::jsonb
  metrics jsonb
  CONSTRAINT worker_pulse_pkey PRIMARY KEY (worker_id)
  CREATE UNIQUE INDEX worker_pulse_pkey ON public.worker_pulse USING btree (worker_id)

TABLE workflow
  id integer NOT NULL IDENTITY
  namespace text COLLATE "C" NOT NULL
  name text COLLATE "C" NOT NULL
  description text
  created_by text COLLATE "C" NOT NULL
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  CONSTRAINT workflow_pkey PRIMARY KEY (id)
  CONSTRAINT workflow_ref UNIQUE (namespace, name)
  CREATE UNIQUE INDEX workflow_pkey ON public.workflow USING btree (id)
  CREATE UNIQUE INDEX workflow_ref ON public.workflow USING btree (namespace, name)

TABLE workflow_version
  id integer NOT NULL IDENTITY
  workflow_id integer NOT NULL
  number integer NOT NULL
  routing json
  routing_text text
  affinity json
  affinity_text text
  requests json
  runner text COLLATE "C"
  max_attempts smallint NOT NULL
  timeout_s integer
  fingerprint bytea NOT NULL
  created_by text COLLATE "C" NOT NULL
  created_at timestamp(3) with time zone NOT NULL DEFAULT clock_timestamp()
  CONSTRAINT workflow_version_max_attempts_check CHECK ((max_attempts >= 1))
  CONSTRAINT workflow_version_number UNIQUE (workflow_id, number)
  CONSTRAINT workflow_version_pkey PRIMARY KEY (id)
  CONSTRAINT workflow_version_timeout_s_check CHECK ((timeout_s > 0))
  CONSTRAINT workflow_version_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflow(id) ON DELETE CASCADE
  CREATE UNIQUE INDEX workflow_version_number ON public.workflow_version USING btree (workflow_id, number)
  CREATE UNIQUE INDEX workflow_version_pkey ON public.workflow_version USING btree (id)

FUNCTION audit_append_only() RETURNS trigger 36299326615924a786c777fae7272740

FUNCTION audit_head_forward() RETURNS trigger 6feb592291e45bcc1ff4b20145df59c7

FUNCTION audit_unsealed_first() RETURNS trigger 24ef4af415897a20de3aa7c1e95620b9

FUNCTION maintain_partitions(today timestamp with time zone, ahead integer, keep integer) RETURNS TABLE(done text, partition text) SET lock_timeout=2s 787ed07450cdffa15aa90634b98363ec

FUNCTION uuid_v7_at(at timestamp with time zone) RETURNS uuid 008dc247ffefdb6f8471116e94add13e

FUNCTION uuid_v7_floor(at timestamp with time zone) RETURNS uuid 3ec39da2f7285177c7f2d4b42cc5d027
