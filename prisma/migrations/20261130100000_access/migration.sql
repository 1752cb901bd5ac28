-- Principals, roles, API tokens and browser sessions. Nothing has read or written these tables before.

-- `password_hash` is an argon2id string. Who comes from an OIDC provider is known by issuer and subject, whatever the name is now.
ALTER TABLE principal
  ADD COLUMN password_hash text,
  ADD COLUMN oidc_issuer   text COLLATE "C",
  ADD COLUMN oidc_subject  text COLLATE "C",
  ADD COLUMN revision      int NOT NULL DEFAULT 1,
  ADD CONSTRAINT principal_oidc_pair CHECK ((oidc_issuer IS NULL) = (oidc_subject IS NULL)),
  ADD CONSTRAINT principal_oidc UNIQUE (oidc_issuer, oidc_subject);

ALTER TABLE role
  ADD COLUMN description text,
  ADD COLUMN revision    int NOT NULL DEFAULT 1,
  ADD COLUMN updated_by  text COLLATE "C" NOT NULL DEFAULT '';

-- `scopes`: permissions that a token is narrowed to; empty: all that its principal has. `address`: from where it was last used.
ALTER TABLE token
  ADD COLUMN scopes  text[] COLLATE "C" NOT NULL DEFAULT '{}',
  ADD COLUMN address text;

-- The cookie's value changes while the session lives: `hash` is of the present one; the one before is good for a moment after `rotated_at`, for requests
-- that were under way. `id` names the session in lists. A session that was opened with an API token may no more than the token, and ends with it.
ALTER TABLE login_session
  ADD COLUMN id            uuid NOT NULL DEFAULT gen_random_uuid(),
  ADD COLUMN previous_hash bytea,
  ADD COLUMN token_id      int REFERENCES token (id) ON DELETE CASCADE,
  ADD COLUMN method        text NOT NULL DEFAULT 'LINK' CONSTRAINT login_session_method CHECK (method IN ('LINK', 'TOKEN', 'PASSWORD', 'OIDC')),
  ADD COLUMN address       text,
  ADD COLUMN user_agent    text,
  ADD COLUMN rotated_at    timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  DROP CONSTRAINT login_session_pkey,
  ADD PRIMARY KEY (id),
  ADD CONSTRAINT login_session_hash UNIQUE (hash);
CREATE INDEX login_session_previous ON login_session (previous_hash) WHERE previous_hash IS NOT NULL;
CREATE INDEX login_session_token ON login_session (token_id) WHERE token_id IS NOT NULL;

-- The tokens of the installation, from a data directory or a configuration, as far as they have been seen: so that those from before a reset stay dead.
-- `everywhere`: made by a reset, and good at every replica; the others are good where they are configured.
CREATE TABLE installation_token (
  hash       bytea PRIMARY KEY,
  everywhere bool NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  revoked_at timestamptz(3)
);

-- Whoever holds the token of the installation is this principal.
INSERT INTO principal (name, kind, roles, created_by) VALUES ('admin', 'USER', '{admin}', 'muster');
