-- Why whoever took a run has it go on, and by whose word: until the journal says so. It holds only while `intent_seq` is the
-- number of the journal's last event; from the next one on the journal is the truth.
ALTER TABLE runs ADD COLUMN intent TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN intent_seq INTEGER NOT NULL DEFAULT -1;

-- Earlier code had it in `reason`, and left it there where its process died before the first append.
UPDATE runs SET intent = reason, reason = '', intent_seq = last_seq
WHERE status = 'running' AND (reason IN ('retry', 'replanning') OR reason LIKE 'retry by {%' OR reason LIKE ' by {%');

-- A run as it is listed.
CREATE OR REPLACE VIEW listed AS
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, "user", epoch, driver,
       greatest(driver_seen_at, (SELECT seen_at FROM drivers WHERE drivers.driver = runs.driver)) AS driver_seen_at,
       last_seq, idempotency_key, parent, plan_id, conversation_id, priority,
       CASE WHEN intent_seq = last_seq AND status IN ('pending', 'running') THEN intent ELSE '' END AS intent
FROM runs;
