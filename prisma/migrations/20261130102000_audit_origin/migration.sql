-- Where an audit entry came from, and the head of the chain that seals entries. Adds only: servers of the release before go on writing.
ALTER TABLE audit ADD COLUMN address text COLLATE "C";
CREATE INDEX audit_action ON audit (action, id);
CREATE INDEX audit_unsealed ON audit (id) WHERE position IS NULL;

-- Everything but the seal stays, columns that are to come included: the row as text has them all.
CREATE OR REPLACE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  unsealed audit;
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.position IS NULL AND OLD.hash IS NULL AND NEW.position IS NOT NULL AND NEW.hash IS NOT NULL THEN
    unsealed := NEW;
    unsealed.position := NULL;
    unsealed.hash := NULL;
    IF unsealed::text = OLD::text THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;

-- Entries come unsealed: nobody writes one into the midst of the chain.
CREATE FUNCTION audit_unsealed_first() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.position IS NOT NULL OR NEW.hash IS NOT NULL THEN
    RAISE EXCEPTION 'an audit entry begins unsealed' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER audit_unsealed_first BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION audit_unsealed_first();

-- The last entry of the chain: one row, which only goes forward.
CREATE TABLE audit_head (
  one       boolean PRIMARY KEY DEFAULT true CHECK (one),
  position  bigint NOT NULL DEFAULT 0,
  hash      bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (octet_length(hash) = 32),
  sealed_at timestamptz(3)
);
INSERT INTO audit_head DEFAULT VALUES;

CREATE FUNCTION audit_head_forward() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.position > OLD.position THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the head of the audit chain only goes forward' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER audit_head_forward BEFORE UPDATE OR DELETE ON audit_head FOR EACH ROW EXECUTE FUNCTION audit_head_forward();
CREATE TRIGGER audit_head_no_truncate BEFORE TRUNCATE ON audit_head FOR EACH STATEMENT EXECUTE FUNCTION audit_head_forward();
