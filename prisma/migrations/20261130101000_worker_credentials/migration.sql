-- How workers come in: a join token is exchanged, once, for the credential of one worker. Neither secret is stored, only its SHA-256; `prefix` is
-- enough to recognise it in a list. `worker`, `role`, `labels`, `services` and `registers` are what it is bound to and what it grants.
CREATE TABLE join_token (
  id          int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash        bytea NOT NULL CONSTRAINT join_token_hash UNIQUE,
  prefix      text COLLATE "C" NOT NULL,
  description text,
  worker      text COLLATE "C",
  role        text COLLATE "C",
  labels      jsonb NOT NULL DEFAULT '{}',
  services    text[] COLLATE "C" NOT NULL DEFAULT '{}',
  registers   text[] COLLATE "C" NOT NULL DEFAULT '{}',
  created_by  text COLLATE "C" NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  expires_at  timestamptz(3) NOT NULL,
  used_at     timestamptz(3),
  used_by     text COLLATE "C",
  revoked_at  timestamptz(3),
  CONSTRAINT join_token_use CHECK ((used_at IS NULL) = (used_by IS NULL))
);
CREATE INDEX join_token_worker ON join_token (worker) WHERE worker IS NOT NULL;

-- `replaced_at`: renewed, and good for a short time still. One credential at most is the worker's current one.
CREATE TABLE worker_credential (
  id            int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash          bytea NOT NULL CONSTRAINT worker_credential_hash UNIQUE,
  prefix        text COLLATE "C" NOT NULL,
  worker        text COLLATE "C" NOT NULL,
  role          text COLLATE "C" NOT NULL,
  labels        jsonb NOT NULL DEFAULT '{}',
  services      text[] COLLATE "C" NOT NULL DEFAULT '{}',
  registers     text[] COLLATE "C" NOT NULL DEFAULT '{}',
  join_token_id int,
  created_at    timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  expires_at    timestamptz(3) NOT NULL,
  last_used_at  timestamptz(3),
  replaced_at   timestamptz(3),
  revoked_at    timestamptz(3),
  revoked_by    text COLLATE "C"
);
CREATE UNIQUE INDEX worker_credential_current ON worker_credential (worker) WHERE revoked_at IS NULL AND replaced_at IS NULL;
CREATE INDEX worker_credential_worker ON worker_credential (worker, id);
