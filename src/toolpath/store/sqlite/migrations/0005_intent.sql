-- Why whoever took a run has it go on, and by whose word: until the journal says so. It holds only while `intent_seq` is the
-- number of the journal's last event; from the next one on the journal is the truth.
ALTER TABLE runs ADD COLUMN intent TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN intent_seq INTEGER NOT NULL DEFAULT -1;

-- Earlier code had it in `reason`, and left it there where its process died before the first append.
UPDATE runs SET intent = reason, reason = '', intent_seq = (SELECT last_seq FROM listed WHERE listed.run_id = runs.run_id)
WHERE status = 'running' AND (reason IN ('retry', 'replanning') OR reason LIKE 'retry by {%' OR reason LIKE ' by {%');

DROP VIEW listed;

-- A run as it is listed.
CREATE VIEW listed AS
SELECT run_id, name, status, reason, created_at,
       max(updated_at, coalesce((SELECT at FROM events WHERE id > number << 32 AND id < (number + 1) << 32
                                 ORDER BY id DESC LIMIT 1), 0.0)) AS updated_at,
       ended_at, tenant, user, epoch, driver,
       max(driver_seen_at, coalesce((SELECT seen_at FROM drivers WHERE drivers.driver = runs.driver), 0.0))
           AS driver_seen_at,
       coalesce((SELECT id & 4294967295 FROM events WHERE id > number << 32 AND id < (number + 1) << 32
                 ORDER BY id DESC LIMIT 1), 0) AS last_seq,
       idempotency_key, parent, plan_id, conversation_id, priority,
       CASE WHEN intent <> '' AND status IN ('pending', 'running')
                 AND intent_seq = coalesce((SELECT id & 4294967295 FROM events
                                            WHERE id > number << 32 AND id < (number + 1) << 32
                                            ORDER BY id DESC LIMIT 1), 0)
            THEN intent ELSE '' END AS intent
FROM runs;
