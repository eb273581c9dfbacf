-- Every statement of the SQLite store, under the name by which `sql.py` gives it.

-- name: insert_run
-- A new run; nothing happens when its id, or its idempotency key with its tenant, is taken.
INSERT INTO runs (run_id, name, status, reason, created_at, updated_at, ended_at, tenant, user, epoch, driver,
                  driver_seen_at, idempotency_key, parent, plan_id, conversation_id, priority)
VALUES (:run_id, :name, :status, :reason, :created_at, :updated_at, :ended_at, :tenant, :user, :epoch, :driver,
        :driver_seen_at, :idempotency_key, :parent, :plan_id, :conversation_id, :priority)
ON CONFLICT DO NOTHING;

-- name: select_number
-- The run's number in this file.
SELECT number FROM runs WHERE run_id = :run_id;

-- name: select_run
SELECT * FROM listed WHERE run_id = :run_id;

-- name: select_run_by_key
SELECT * FROM listed WHERE tenant = :tenant AND idempotency_key = :idempotency_key AND idempotency_key <> '';

-- name: select_runs
-- A page of runs, newest first. The bounds of the first page lie beyond every run; `sql.filtered` puts conditions in.
SELECT * FROM listed
WHERE (created_at, run_id) < (:created_at, :run_id) /* filters */
ORDER BY created_at DESC, run_id DESC LIMIT :limit;

-- name: select_lost_runs
-- Begun, to be driven, and driven by nobody who was seen since; longest unseen first, but those that nobody has begun
-- after all others: most of them wait their turn.
SELECT * FROM (
SELECT * FROM listed
WHERE status IN ('pending', 'running') AND last_seq > 0 AND driver_seen_at < :seen_before
UNION
SELECT listed.* FROM signals JOIN listed ON listed.run_id = signals.run_id
WHERE listed.driver_seen_at < :seen_before AND last_seq > 0
AND (listed.status = 'waiting'
     OR (listed.status = 'paused' AND json_extract(CAST(signals.data AS TEXT), '$.kind') IN ('cancel', 'resume')))
) AS lost
ORDER BY status = 'pending', driver_seen_at, run_id LIMIT :limit;

-- name: select_drivers
SELECT driver, max(driver_seen_at) AS seen_at FROM listed WHERE status = 'running' AND driver <> ''
GROUP BY driver ORDER BY driver;

-- name: select_runs_of
SELECT * FROM listed WHERE status = 'running' AND driver IN (SELECT value FROM json_each(:drivers))
ORDER BY driver_seen_at, run_id LIMIT :limit;

-- name: select_recent_ids
-- Ids that a mistyped one may have meant.
SELECT run_id FROM runs ORDER BY created_at DESC LIMIT 1000;

-- name: take_run
-- A new epoch: from here on appends of every earlier one are refused.
UPDATE runs
SET epoch = epoch + 1, driver = :driver, driver_seen_at = :now, status = coalesce(:status, status),
    reason = coalesce(:reason, reason),
    ended_at = CASE WHEN :goes_on THEN NULL ELSE coalesce(:ended_at, ended_at) END
WHERE run_id = :run_id AND (:expected IS NULL OR epoch = :expected)
RETURNING number, epoch, (SELECT last_seq FROM listed WHERE listed.run_id = :run_id) AS last_seq;

-- name: fence
-- The first statement of every append, when its transaction has the write lock: the epoch of the run, the last event
-- before an id (of whatever run), and the latest signal for the run, put by whatever process.
SELECT epoch, (SELECT id FROM events WHERE id < ? ORDER BY id DESC LIMIT 1),
       (SELECT max(id) FROM signals WHERE signals.run_id = runs.run_id)
FROM runs WHERE number = ?;

-- name: change_run
-- The run's status moves. A run that goes on has no time of end any more.
UPDATE runs
SET updated_at = :at, status = coalesce(:status, status), reason = coalesce(:reason, reason),
    ended_at = CASE WHEN :goes_on THEN NULL ELSE coalesce(:ended_at, ended_at) END
WHERE number = :number;

-- name: insert_event
INSERT INTO events (id, at, data) VALUES (?, ?, ?);

-- name: insert_blob
INSERT INTO blobs (digest, data) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- name: insert_blob_use
INSERT INTO blob_uses (digest, run_id) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- name: release_run
UPDATE runs SET driver = '', driver_seen_at = max(driver_seen_at, :now) WHERE number = :number AND epoch = :epoch;

-- name: beat
INSERT INTO drivers (driver, seen_at) VALUES (:driver, :now)
ON CONFLICT (driver) DO UPDATE SET seen_at = excluded.seen_at;

-- name: delete_drivers
-- Those that have gone long ago. Their runs are unseen either way.
DELETE FROM drivers WHERE seen_at < :seen_before;

-- name: select_events
-- The run's number is null, and no row found, for a run that is not stored.
SELECT id & 4294967295 AS seq, data FROM events
WHERE id > ((SELECT number FROM runs WHERE run_id = :run_id) << 32) + :after
  AND id < ((SELECT number FROM runs WHERE run_id = :run_id) + 1) << 32
ORDER BY id LIMIT :limit;

-- name: select_blob
SELECT data FROM blobs WHERE digest = :digest;

-- name: insert_signal
-- Nothing happens for a run that is not stored.
INSERT INTO signals (run_id, data) SELECT run_id, :data FROM runs WHERE run_id = :run_id;

-- name: select_signals
SELECT id, data FROM signals WHERE run_id = :run_id ORDER BY id;

-- name: delete_signal
DELETE FROM signals WHERE run_id = ? AND id = ?;

-- name: select_cached
SELECT value, expires_at FROM cache WHERE key = :key AND expires_at > :now;

-- name: upsert_cached
INSERT INTO cache (key, owner, value, expires_at) VALUES (:key, :owner, :value, :expires_at)
ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, value = excluded.value, expires_at = excluded.expires_at;

-- name: delete_cached
DELETE FROM cache WHERE owner = :owner;

-- name: delete_expired
-- A few at a time, so that no one put pays for all.
DELETE FROM cache WHERE key IN (SELECT key FROM cache WHERE expires_at <= :now LIMIT 20);

-- name: select_stats
SELECT tool, data FROM tool_stats;

-- name: select_stats_of
SELECT data FROM tool_stats WHERE tool = :tool;

-- name: upsert_stats
INSERT INTO tool_stats (tool, data) VALUES (:tool, :data) ON CONFLICT (tool) DO UPDATE SET data = excluded.data;

-- name: upsert_record
INSERT INTO records (kind, id, tenant, parent, name, data, created_at, updated_at, version)
VALUES (:kind, :id, :tenant, :parent, :name, :data, :created_at, :updated_at, :version)
ON CONFLICT (kind, id) DO UPDATE SET tenant = excluded.tenant, parent = excluded.parent, name = excluded.name,
    data = excluded.data, updated_at = excluded.updated_at, version = excluded.version;

-- name: select_record
SELECT kind, id, tenant, parent, name, data, created_at, updated_at, version
FROM records WHERE kind = :kind AND id = :id;

-- name: select_records
-- A page of one kind, newest first; with conditions as for runs.
SELECT kind, id, tenant, parent, name, data, created_at, updated_at, version
FROM records
WHERE kind = :kind AND (created_at, id) < (:created_at, :id) /* filters */
ORDER BY created_at DESC, id DESC LIMIT :limit;

-- name: delete_record
DELETE FROM records WHERE kind = :kind AND id = :id;

-- name: insert_audit
INSERT INTO audit (seq, tenant, data) VALUES (:seq, :tenant, :data);

-- name: select_last_audit
SELECT data FROM audit ORDER BY seq DESC LIMIT 1;

-- name: select_audit
SELECT data FROM audit WHERE seq > :after /* filters */ ORDER BY seq LIMIT :limit;

-- name: delete_run
-- Only a run that has ended.
DELETE FROM runs
WHERE run_id = :run_id AND status IN ('completed', 'completed_with_errors', 'failed', 'cancelled')
RETURNING number;

-- name: insert_deleted
INSERT INTO deleted (number) VALUES (:number);

-- name: select_deleted
SELECT number FROM deleted LIMIT 1;

-- name: delete_events
DELETE FROM events
WHERE id IN (SELECT id FROM events WHERE id > :number << 32 AND id < (:number + 1) << 32 ORDER BY id LIMIT :limit);

-- name: forget_deleted
DELETE FROM deleted WHERE number = :number;

-- name: delete_signals
DELETE FROM signals WHERE run_id = :run_id;

-- name: delete_orphaned_blobs
-- The blobs that no other run's events point to.
DELETE FROM blobs WHERE digest IN (
    SELECT digest FROM blob_uses AS used WHERE used.run_id = :run_id
    AND NOT EXISTS (SELECT 1 FROM blob_uses AS other WHERE other.digest = used.digest AND other.run_id <> :run_id)
);

-- name: delete_blob_uses
DELETE FROM blob_uses WHERE run_id = :run_id;
