-- What has been accepted for a variant and is on no worker: PENDING, RESUMING (parked or not) and PAUSED. Asked before a variant or its deployment is
-- removed. An execution enters it at submission and leaves it with its assignment; both write every other index anyway.
CREATE INDEX execution_deployment_waiting ON execution (deployment_id, variant, id)
  WHERE deployment_id IS NOT NULL AND NOT live AND finished_state IS NULL;
