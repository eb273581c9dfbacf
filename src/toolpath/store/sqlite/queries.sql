-- Every statement of the SQLite store, under the name by which `sql.py` gives it.

-- name: insert_run
-- A new run; nothing happens when its id, or its idempotency key with its tenant, is taken.
INSERT INTO runs (run_id, name, status, reason, created_at, updated_at, ended_at, tenant, user, epoch, driver,
                  driver_seen_at, idempotency_key, parent, plan_id, conversation_id, priority, asked_epoch)
VALUES (:run_id, :name, :status, :reason, :created_at, :updated_at, :ended_at, :tenant, :user, :epoch, :driver,
        :driver_seen_at, :idempotency_key, :parent, :plan_id, :conversation_id, :priority, :epoch)
ON CONFLICT DO NOTHING;

-- name: select_run
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, user, epoch, driver, driver_seen_at, last_seq,
       idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed WHERE run_id = :run_id;

-- name: select_run_by_key
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, user, epoch, driver, driver_seen_at, last_seq,
       idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed WHERE tenant = :tenant AND idempotency_key = :idempotency_key AND idempotency_key <> '';

-- name: select_runs
-- A page of runs, newest first. The bounds of the first page lie beyond every run; `sql.filtered` puts conditions in.
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, user, epoch, driver, driver_seen_at, last_seq,
       idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed
WHERE (created_at, run_id) < (:created_at, :run_id) AND created_at >= :since AND created_at < :until /* filters */
ORDER BY created_at DESC, run_id DESC LIMIT :limit;

-- name: select_run_times
-- Of the newest runs, without their journals' ends: what a chart is made of.
SELECT status, created_at, ended_at FROM runs WHERE created_at >= :since /* filters */ ORDER BY created_at DESC LIMIT :limit;

-- name: select_lost_runs
-- Begun, to be driven, and driven by nobody who was seen since; longest unseen first, but those that nobody has begun
-- after all others: most of them wait their turn.
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, user, epoch, driver, driver_seen_at, last_seq,
       idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed WHERE run_id IN (
    SELECT run_id FROM runs WHERE status IN ('pending', 'running')
    UNION ALL
    SELECT runs.run_id FROM signals JOIN runs USING (run_id)
    WHERE status = 'waiting'
       OR (status = 'paused' AND json_extract(CAST(signals.data AS TEXT), '$.kind') IN ('cancel', 'resume'))
) AND last_seq > 0 AND driver_seen_at < :seen_before
ORDER BY status = 'pending', driver_seen_at, run_id LIMIT :limit;

-- name: select_unqueued_runs
-- The same without those that have a turn, however many these are.
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, user, epoch, driver, driver_seen_at, last_seq,
       idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed WHERE run_id IN (
    SELECT run_id FROM runs WHERE turn IS NULL AND status IN ('pending', 'running')
    UNION ALL
    SELECT runs.run_id FROM signals JOIN runs USING (run_id)
    WHERE turn IS NULL AND (status = 'waiting'
       OR (status = 'paused' AND json_extract(CAST(signals.data AS TEXT), '$.kind') IN ('cancel', 'resume')))
) AND last_seq > 0 AND driver_seen_at < :seen_before
ORDER BY status = 'pending', driver_seen_at, run_id LIMIT :limit;

-- name: enqueue_run
-- A turn after those of its tenant, and not before the one that comes next: so tenants take turns.
UPDATE runs SET rank = CASE WHEN status = 'pending' THEN priority ELSE 1000 END, turn = max(
    coalesce((SELECT min(turn) FROM runs WHERE turn IS NOT NULL), 0),
    coalesce((SELECT 1 + max(turn) FROM runs AS own WHERE own.turn IS NOT NULL AND own.tenant = runs.tenant), 0))
WHERE run_id = :run_id AND turn IS NULL;

-- name: select_busy_tenants
-- Those that have so many runs under way, begun or about to be.
SELECT tenant FROM runs WHERE turn IS NULL AND status IN ('pending', 'running')
GROUP BY tenant HAVING count(*) >= :most;

-- name: select_next_run
-- The first turn, and of that tenant the run that comes first.
SELECT head.number AS head, best.number, best.run_id, best.turn
FROM (SELECT number, tenant FROM runs WHERE turn IS NOT NULL AND tenant NOT IN (SELECT value FROM json_each(:full))
      ORDER BY turn, number LIMIT 1) AS head
JOIN runs AS best ON best.number = (
    SELECT number FROM runs WHERE turn IS NOT NULL AND tenant = head.tenant ORDER BY rank DESC, number LIMIT 1);

-- name: move_turn
-- The run whose turn another took goes in the other's place.
UPDATE runs SET turn = :turn WHERE number = :head;

-- name: take_turn
UPDATE runs SET turn = NULL, driver_seen_at = max(driver_seen_at, :now) WHERE number = :number;

-- name: select_queued
SELECT run_id FROM runs WHERE turn IS NOT NULL ORDER BY turn, number LIMIT :limit;

-- name: select_standing
SELECT status, count(*) AS runs FROM runs WHERE status IN ('pending', 'running', 'waiting', 'paused') /* filters */
GROUP BY status;

-- name: select_standing_questions
SELECT json_extract(question.value, '$[0]') AS kind, count(*) AS questions
FROM runs, json_each(runs.asked) AS question
WHERE asked_at IS NOT NULL AND asked_epoch = epoch /* filters */ GROUP BY kind;

-- name: select_asking_runs
-- A page of the runs that wait for people, longest first; with conditions as for runs.
SELECT run_id, coalesce(asked_at, created_at) AS since, name, asked, asked_epoch = epoch AS is_told,
       (SELECT last_seq FROM listed WHERE listed.run_id = runs.run_id) AS last_seq
FROM runs
WHERE (asked_at IS NOT NULL OR (status = 'waiting' AND asked_epoch <> epoch))
AND (coalesce(asked_at, created_at), run_id) > (:since, :run_id) /* filters */
ORDER BY coalesce(asked_at, created_at), run_id LIMIT :limit;

-- name: select_drivers
SELECT driver, max(driver_seen_at) AS seen_at FROM listed WHERE status = 'running' AND driver <> ''
GROUP BY driver ORDER BY driver;

-- name: select_processes
SELECT driver, seen_at FROM drivers WHERE seen_at > :seen_after ORDER BY driver;

-- name: select_runs_of
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, user, epoch, driver, driver_seen_at, last_seq,
       idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed WHERE status = 'running' AND driver IN (SELECT value FROM json_each(:drivers)) /* filters */
ORDER BY driver_seen_at, run_id LIMIT :limit;

-- name: select_recent_ids
-- Ids that a mistyped one may have meant.
SELECT run_id FROM runs ORDER BY created_at DESC LIMIT 1000;

-- name: take_run
-- A new epoch: from here on appends of every earlier one are refused.
UPDATE runs
SET epoch = epoch + 1, asked_epoch = CASE WHEN asked_epoch = epoch THEN epoch + 1 ELSE asked_epoch END,
    driver = :driver, driver_seen_at = :now, turn = CASE WHEN :driver = '' THEN turn END,
    status = coalesce(:status, status),
    reason = coalesce(:reason, reason), intent = coalesce(:intent, intent),
    intent_seq = CASE WHEN :intent IS NULL THEN intent_seq
                 ELSE (SELECT last_seq FROM listed WHERE listed.run_id = :run_id) END,
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
    ended_at = CASE WHEN :goes_on THEN NULL ELSE coalesce(:ended_at, ended_at) END,
    asked = coalesce(:asked, asked), asked_at = CASE WHEN :asked IS NULL THEN asked_at ELSE :asked_at END,
    asked_epoch = CASE WHEN :asked IS NULL THEN asked_epoch ELSE epoch END
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

-- name: select_blob_part
SELECT substr(data, :offset + 1, :size) AS data FROM blobs WHERE digest = :digest;

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

-- name: delete_mark
DELETE FROM cache WHERE key = :mark;

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

-- name: select_small_record
-- The same where its text is short.
SELECT kind, id, tenant, parent, name, data, created_at, updated_at, version
FROM records WHERE kind = :kind AND id = :id AND length(data) <= :most;

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

-- name: delete_audit
DELETE FROM audit WHERE seq IN (
    SELECT seq FROM audit WHERE seq <= :through AND seq < (SELECT max(seq) FROM audit) ORDER BY seq LIMIT :limit);

-- name: select_last_audit
SELECT seq, tenant, data FROM audit ORDER BY seq DESC LIMIT 1;

-- name: select_audit
SELECT seq, tenant, data FROM audit WHERE seq > :after /* filters */ ORDER BY seq LIMIT :limit;

-- name: select_newest_audit
SELECT seq, tenant, data FROM audit WHERE seq < :before /* filters */ ORDER BY seq DESC LIMIT :limit;

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

-- name: delete_run_secrets
DELETE FROM records WHERE kind = 'run_secret' AND parent <> '' AND parent = :run_id;

-- name: delete_orphaned_blobs
-- The blobs that no other run's events point to.
DELETE FROM blobs WHERE digest IN (
    SELECT digest FROM blob_uses AS used WHERE used.run_id = :run_id
    AND NOT EXISTS (SELECT 1 FROM blob_uses AS other WHERE other.digest = used.digest AND other.run_id <> :run_id)
);

-- name: delete_blob_uses
DELETE FROM blob_uses WHERE run_id = :run_id;
