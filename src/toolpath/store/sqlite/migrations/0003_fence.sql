-- An append writes its events and nothing else: the end of a journal is the number of its last event, and a run that is
-- under way was updated when that event happened. The run's row is a page of its own.

DROP VIEW listed;

ALTER TABLE runs DROP COLUMN last_seq;

-- When the event happened; null where older code wrote it, which wrote the time into the run's row too.
ALTER TABLE events ADD COLUMN at REAL;

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
       idempotency_key, parent, plan_id, conversation_id, priority
FROM runs;
