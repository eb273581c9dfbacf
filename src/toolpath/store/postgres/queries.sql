-- Every statement of the PostgreSQL store, under the name by which `sql.py` gives it. `:name` is a parameter.
-- Where `:now` is null the database's clock serves: those of the machines may differ.

-- name: insert_run
-- A new run with its first events and who asked for it, in one; nothing happens when its id, or its key with its tenant,
-- is taken.
WITH stored AS (
    INSERT INTO runs (run_id, name, status, reason, created_at, updated_at, ended_at, tenant, "user", epoch, driver,
                      driver_seen_at, last_seq, idempotency_key, parent, plan_id, conversation_id, priority,
                      asked_epoch, turn, rank)
    VALUES (:run_id, :name, :status, :reason, :created_at, :updated_at, :ended_at, :tenant, :user, :epoch, :driver,
            coalesce(CAST(:now AS float8), extract(epoch FROM clock_timestamp())), :last_seq, :idempotency_key,
            :parent, :plan_id, :conversation_id, :priority, :epoch,
            CASE WHEN :has_turn THEN greatest(
                coalesce((SELECT min(turn) FROM runs WHERE turn IS NOT NULL), 0),
                coalesce((SELECT 1 + max(turn) FROM runs WHERE turn IS NOT NULL AND tenant = :tenant), 0)) END,
            CASE WHEN :has_turn THEN :priority ELSE 0 END)
    ON CONFLICT DO NOTHING
    RETURNING number, driver_seen_at
), written AS (
    INSERT INTO events (number, seq, data)
    SELECT number, seq, data FROM stored, unnest(CAST(:events AS bytea[])) WITH ORDINALITY AS event (data, seq)
), used AS (
    INSERT INTO blob_uses (digest, number) SELECT digest, number FROM stored, unnest(CAST(:uses AS text[])) AS digest
), told AS (
    INSERT INTO audit_inbox (token, data)
    SELECT :token, data FROM stored, unnest(CAST(:asked AS bytea[])) WITH ORDINALITY AS entry (data, place) ORDER BY place
)
SELECT number, driver_seen_at FROM stored;

-- name: select_inserted
-- The run of an `insert_run` of which nobody heard whether it was done.
SELECT number, driver_seen_at FROM runs
WHERE run_id = :run_id AND created_at = :created_at AND driver = :driver AND epoch = :epoch;

-- name: select_run
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, "user", epoch, driver, driver_seen_at,
       last_seq, idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed WHERE run_id = :run_id;

-- name: select_last_seq
SELECT last_seq FROM runs WHERE run_id = :run_id;

-- name: select_run_by_key
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, "user", epoch, driver, driver_seen_at,
       last_seq, idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed WHERE tenant = :tenant AND idempotency_key = :idempotency_key AND idempotency_key <> '';

-- name: select_runs
-- A page of runs, newest first. The bounds of the first page lie beyond every run; `sql.filtered` puts conditions in.
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, "user", epoch, driver, driver_seen_at,
       last_seq, idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed
WHERE (created_at, run_id) < (:created_at, :run_id) AND created_at >= :since AND created_at < :until /* filters */
ORDER BY created_at DESC, run_id DESC LIMIT :limit;

-- name: select_run_times
-- Of the newest runs, without their journals' ends: what a chart is made of.
SELECT status, created_at, ended_at FROM runs WHERE created_at >= :since /* filters */ ORDER BY created_at DESC LIMIT :limit;

-- name: select_lost_runs
-- Begun, to be driven, and driven by nobody who was seen since; longest unseen first, but those that nobody has begun
-- after all others: most of them wait their turn. A driver that could not say that it lives, because the server was
-- away until `:held_since`, is given as long anew.
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, "user", epoch, driver, driver_seen_at,
       last_seq, idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed WHERE run_id IN (
    SELECT run_id FROM runs WHERE status IN ('pending', 'running')
    UNION ALL
    SELECT runs.run_id FROM signals JOIN runs USING (number)
    WHERE (status = 'waiting' OR (status = 'paused' AND kind IN ('cancel', 'resume')))
) AND last_seq > 0 AND driver_seen_at < :seen_before AND (driver = '' OR CAST(:held_since AS float8) < :seen_before)
ORDER BY status = 'pending', driver_seen_at, run_id LIMIT :limit;

-- name: select_unqueued_runs
-- The same without those that have a turn, however many these are.
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, "user", epoch, driver, driver_seen_at,
       last_seq, idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed WHERE run_id IN (
    SELECT run_id FROM runs WHERE turn IS NULL AND status IN ('pending', 'running')
    UNION ALL
    SELECT runs.run_id FROM signals JOIN runs USING (number)
    WHERE turn IS NULL AND (status = 'waiting' OR (status = 'paused' AND kind IN ('cancel', 'resume')))
) AND last_seq > 0 AND driver_seen_at < :seen_before AND (driver = '' OR CAST(:held_since AS float8) < :seen_before)
ORDER BY status = 'pending', driver_seen_at, run_id LIMIT :limit;

-- name: enqueue_run
-- A turn after those of its tenant, and not before the one that comes next: so tenants take turns.
UPDATE runs SET rank = CASE WHEN status = 'pending' THEN priority ELSE 1000 END, turn = greatest(
    coalesce((SELECT min(turn) FROM runs WHERE turn IS NOT NULL), 0),
    coalesce((SELECT 1 + max(turn) FROM runs AS own WHERE own.turn IS NOT NULL AND own.tenant = runs.tenant), 0))
WHERE run_id = :run_id AND turn IS NULL RETURNING number;

-- name: lock_turns
-- Where tenants may have so many runs under way: one process at a time, so that each sees what the others took.
SELECT pg_advisory_xact_lock(hashtextextended(CAST(:schema AS text) || '.turns', 0));

-- name: select_busy_tenants
-- Those that have so many runs under way, begun or about to be.
SELECT tenant FROM runs WHERE turn IS NULL AND status IN ('pending', 'running')
GROUP BY tenant HAVING count(*) >= :most;

-- name: take_turn
-- The first turn, and of that tenant the run that comes first; the one whose turn it was goes in its place. Nobody waits
-- for a row that another process is taking. Losing this commit does no harm: the run is found, or taken again.
WITH head AS (
    SELECT number, tenant FROM runs WHERE turn IS NOT NULL AND tenant <> ALL (CAST(:full AS text[]))
    ORDER BY turn, number LIMIT 1 FOR UPDATE SKIP LOCKED
), best AS (
    SELECT number, turn FROM runs
    WHERE turn IS NOT NULL AND tenant = (SELECT tenant FROM head)
    ORDER BY rank DESC, number LIMIT 1 FOR UPDATE SKIP LOCKED
), chosen AS (
    SELECT coalesce(best.number, head.number) AS number, best.turn, head.number AS head,
           set_config('synchronous_commit', 'off', true)
    FROM head LEFT JOIN best ON true
), moved AS (
    UPDATE runs SET turn = CASE WHEN runs.number = chosen.number THEN NULL ELSE chosen.turn END,
        driver_seen_at = CASE WHEN runs.number = chosen.number
            THEN greatest(driver_seen_at, coalesce(CAST(:now AS float8), extract(epoch FROM clock_timestamp())))
            ELSE driver_seen_at END
    FROM chosen WHERE runs.number IN (chosen.number, chosen.head)
    RETURNING runs.run_id, runs.turn
)
SELECT run_id FROM moved WHERE turn IS NULL;

-- name: select_queued
SELECT run_id FROM runs WHERE turn IS NOT NULL ORDER BY turn, number LIMIT :limit;

-- name: select_standing
SELECT status, count(*) AS runs FROM runs WHERE status IN ('pending', 'running', 'waiting', 'paused') /* filters */
GROUP BY status;

-- name: select_standing_questions
SELECT question ->> 0 AS kind, count(*) AS questions
FROM runs CROSS JOIN LATERAL jsonb_array_elements(CAST(asked AS jsonb)) AS question
WHERE asked_at IS NOT NULL AND asked_epoch = epoch /* filters */ GROUP BY question ->> 0;

-- name: select_asking_runs
-- A page of the runs that wait for people, longest first; with conditions as for runs.
SELECT run_id, coalesce(asked_at, created_at) AS since, name, asked, asked_epoch = epoch AS is_told, last_seq
FROM runs
WHERE (asked_at IS NOT NULL OR (status = 'waiting' AND asked_epoch <> epoch))
AND (coalesce(asked_at, created_at), run_id) > (:since, :run_id) /* filters */
ORDER BY coalesce(asked_at, created_at), run_id LIMIT :limit;

-- name: select_drivers
-- One that has never said that it lives has had no time to connect.
WITH held AS MATERIALIZED (
    SELECT (CAST(classid AS bigint) << 32) | CAST(objid AS bigint) AS key FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
SELECT driven.driver, coalesce(drivers.seen_at, 0) AS seen_at,
       drivers.seen_at IS NULL OR hashtextextended(driven.driver, 0) IN (SELECT key FROM held) AS is_connected
FROM (SELECT DISTINCT driver FROM runs WHERE status = 'running' AND driver <> '') AS driven
LEFT JOIN drivers USING (driver) ORDER BY driver;

-- name: select_processes
SELECT driver, seen_at FROM drivers WHERE seen_at > :seen_after ORDER BY driver;

-- name: select_runs_of
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, "user", epoch, driver, driver_seen_at,
       last_seq, idempotency_key, parent, plan_id, conversation_id, priority, intent
FROM listed WHERE status = 'running' AND driver = ANY (CAST(:drivers AS text[])) /* filters */
ORDER BY driver_seen_at, run_id LIMIT :limit;

-- name: select_recent_ids
-- Ids that a mistyped one may have meant.
SELECT run_id FROM runs ORDER BY created_at DESC, run_id DESC LIMIT 1000;

-- name: take_run
-- A new epoch: from here on appends of every earlier one change no row.
UPDATE runs SET epoch = epoch + 1, driver = :driver,
    asked_epoch = CASE WHEN asked_epoch = epoch THEN epoch + 1 ELSE asked_epoch END,
    turn = CASE WHEN :driver = '' THEN turn END,
    driver_seen_at = coalesce(CAST(:now AS float8), extract(epoch FROM clock_timestamp())),
    status = coalesce(CAST(:status AS text), status), reason = coalesce(CAST(:reason AS text), reason),
    intent = coalesce(CAST(:intent AS text), intent),
    intent_seq = CASE WHEN CAST(:intent AS text) IS NULL THEN intent_seq ELSE last_seq END,
    ended_at = CASE WHEN CAST(:goes_on AS bool) THEN NULL ELSE coalesce(CAST(:ended_at AS float8), ended_at) END
WHERE run_id = :run_id
  AND (CAST(:expected AS int) IS NULL OR epoch = :expected
       -- Taken by this very driver, which did not hear of it.
       OR (epoch = :expected + 1 AND driver = :driver AND driver <> ''))
RETURNING number, epoch, last_seq;

-- name: append
-- The appends of a group, one a run and epoch, each with its events and bytes or not at all. Readers are told after it.
-- Bytes that are there are locked, so that nobody deletes them as the last use of another run.
WITH wanted AS (
    SELECT * FROM unnest(CAST(:jobs AS int[]), CAST(:numbers AS bigint[]), CAST(:epochs AS int[]),
                         CAST(:befores AS int[]), CAST(:lasts AS int[]), CAST(:ats AS float8[]),
                         CAST(:statuses AS text[]), CAST(:reasons AS text[]), CAST(:ends AS float8[]),
                         CAST(:going AS bool[]), CAST(:askeds AS text[]), CAST(:asked_ats AS float8[]))
        AS wanted (job, number, epoch, before, last, at, status, reason, ended_at, goes_on, asked, asked_at)
), fenced AS (
    UPDATE runs SET last_seq = wanted.last, updated_at = wanted.at, status = coalesce(wanted.status, runs.status),
        reason = coalesce(wanted.reason, runs.reason),
        ended_at = CASE WHEN wanted.goes_on THEN NULL ELSE coalesce(wanted.ended_at, runs.ended_at) END,
        asked = coalesce(wanted.asked, runs.asked),
        asked_at = CASE WHEN wanted.asked IS NULL THEN runs.asked_at ELSE wanted.asked_at END,
        asked_epoch = CASE WHEN wanted.asked IS NULL THEN runs.asked_epoch ELSE runs.epoch END
    FROM wanted
    WHERE runs.number = wanted.number AND runs.epoch = wanted.epoch AND runs.last_seq = wanted.before
    RETURNING wanted.job, runs.number
), written AS (
    INSERT INTO events (number, seq, data)
    SELECT fenced.number, event.seq, event.data
    FROM unnest(CAST(:event_jobs AS int[]), CAST(:seqs AS int[]), CAST(:datas AS bytea[])) AS event (job, seq, data)
    JOIN fenced USING (job)
), stored AS (
    INSERT INTO blobs (digest, data)
    SELECT DISTINCT ON (blob.digest) blob.digest, blob.data
    FROM unnest(CAST(:blob_jobs AS int[]), CAST(:blob_digests AS text[]), CAST(:blob_datas AS bytea[]))
        AS blob (job, digest, data)
    JOIN fenced USING (job)
    ORDER BY blob.digest
    ON CONFLICT (digest) DO UPDATE SET digest = excluded.digest
), used AS (
    INSERT INTO blob_uses (digest, number)
    SELECT used.digest, fenced.number
    FROM unnest(CAST(:use_jobs AS int[]), CAST(:use_digests AS text[])) AS used (job, digest) JOIN fenced USING (job)
    ON CONFLICT DO NOTHING
)
SELECT job FROM fenced;

-- name: tell
-- Which runs have grown. In a transaction of its own that waits for no disk: while one that notifies is committed, no
-- other one of the whole cluster can be.
SELECT set_config('synchronous_commit', 'off', true),
       (SELECT count(pg_notify(:channel, 'e' || left(run_id, 1000))) FROM unnest(CAST(:run_ids AS text[])) AS run_id);

-- name: select_fence
-- Why the fence was shut.
SELECT epoch, last_seq FROM runs WHERE number = :number;

-- name: release_run
UPDATE runs SET driver = '',
    driver_seen_at = greatest(driver_seen_at, coalesce(CAST(:now AS float8), extract(epoch FROM clock_timestamp())))
WHERE number = :number AND epoch = :epoch;

-- name: beat
INSERT INTO drivers (driver, seen_at)
VALUES (:driver, coalesce(CAST(:now AS float8), extract(epoch FROM clock_timestamp())))
ON CONFLICT (driver) DO UPDATE SET seen_at = excluded.seen_at RETURNING seen_at;

-- name: hold_presence
-- Held as long as the connection stands: others see at once when it does not. Shared, because a connection that was lost
-- may still hold it for a while.
SELECT pg_advisory_lock_shared(hashtextextended(:driver, 0));

-- name: delete_drivers
-- Those that have gone long ago. Their runs are unseen either way.
DELETE FROM drivers WHERE seen_at < :seen_before;

-- name: select_times
-- Now, and since when the server runs.
SELECT CAST(extract(epoch FROM clock_timestamp()) AS float8) AS now,
       CAST(extract(epoch FROM pg_postmaster_start_time()) AS float8) AS begun;

-- name: select_events
-- Those before which the texts of the page have not reached so many bytes.
SELECT seq, data FROM (
    SELECT seq, data, sum(octet_length(data)) OVER (ORDER BY seq) - octet_length(data) AS before
    FROM (
        SELECT seq, data FROM events
        WHERE number = (SELECT number FROM runs WHERE run_id = :run_id) AND seq > :after
        ORDER BY seq LIMIT :limit
    ) AS page
) AS summed
WHERE before < :bytes ORDER BY seq;

-- name: select_blob
SELECT data FROM blobs WHERE digest = :digest;

-- name: select_blob_part
SELECT substring(data FROM CAST(:offset AS int) + 1 FOR CAST(:size AS int)) FROM blobs WHERE digest = :digest;

-- name: insert_signal
-- The lock keeps the run from being deleted in between.
WITH run AS (
    SELECT number, run_id FROM runs WHERE run_id = :run_id FOR KEY SHARE
), kept AS (
    INSERT INTO signals (number, token, kind, data) SELECT number, :token, :kind, :data FROM run
    ON CONFLICT (token) DO NOTHING
), told AS (
    SELECT pg_notify(:channel, 's' || left(run_id, 1000)) FROM run
)
SELECT number, (SELECT count(*) FROM told) FROM run;

-- name: select_signals
SELECT id, data FROM signals WHERE number = (SELECT number FROM runs WHERE run_id = :run_id) ORDER BY id;

-- name: delete_signals
DELETE FROM signals
WHERE number = (SELECT number FROM runs WHERE run_id = :run_id) AND id = ANY (CAST(:ids AS bigint[]));

-- name: select_cached
SELECT value, expires_at FROM cache WHERE key = :key AND expires_at > :now;

-- name: upsert_cached
INSERT INTO cache (key, owner, value, expires_at) VALUES (:key, :owner, :value, :expires_at)
ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, value = excluded.value, expires_at = excluded.expires_at;

-- name: replace_mark
WITH marked AS (DELETE FROM cache WHERE key = :mark RETURNING key)
INSERT INTO cache (key, owner, value, expires_at)
SELECT CAST(:key AS text), CAST(:owner AS text), CAST(:value AS bytea), CAST(:expires_at AS double precision) FROM marked
ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, value = excluded.value, expires_at = excluded.expires_at;

-- name: delete_cached
WITH gone AS (DELETE FROM cache WHERE owner = :owner RETURNING 1) SELECT count(*) FROM gone;

-- name: delete_expired
-- A few at a time, so that no one put pays for all; what somebody else is deleting is left to them.
DELETE FROM cache WHERE key IN (SELECT key FROM cache WHERE expires_at <= :now LIMIT 20 FOR UPDATE SKIP LOCKED);

-- name: select_stats
SELECT tool, data FROM tool_stats;

-- name: insert_stats
-- So that there is a row to lock.
INSERT INTO tool_stats (tool, data) SELECT tool, :data FROM unnest(CAST(:tools AS text[])) AS tool
ON CONFLICT DO NOTHING;

-- name: select_stats_of
SELECT tool, data FROM tool_stats WHERE tool = ANY (CAST(:tools AS text[])) ORDER BY tool FOR UPDATE;

-- name: update_stats
UPDATE tool_stats SET data = new.data
FROM unnest(CAST(:tools AS text[]), CAST(:datas AS bytea[])) AS new (tool, data) WHERE tool_stats.tool = new.tool;

-- name: insert_record
INSERT INTO records (kind, id, tenant, parent, name, data, created_at, updated_at, version)
VALUES (:kind, :id, :tenant, :parent, :name, :data, :created_at, :updated_at, :version)
ON CONFLICT DO NOTHING RETURNING version;

-- name: update_record
UPDATE records SET tenant = :tenant, parent = :parent, name = :name, data = :data, updated_at = :updated_at,
    version = :version
WHERE kind = :kind AND id = :id AND version = :version - 1 RETURNING version;

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
DELETE FROM records WHERE kind = :kind AND id = :id RETURNING version;

-- name: insert_audit_inbox
-- Durable when it is committed, and no other process waits for it.
INSERT INTO audit_inbox (token, data)
SELECT token, data FROM unnest(CAST(:tokens AS text[]), CAST(:datas AS bytea[]))
    WITH ORDINALITY AS entry (token, data, place) ORDER BY place;

-- name: select_is_kept
-- Whether the entries of an append of which nobody heard are there.
SELECT EXISTS (SELECT 1 FROM audit_inbox WHERE token = :token)
    OR EXISTS (SELECT 1 FROM audit WHERE token = :token AND token <> '');

-- name: select_is_unlinked
SELECT EXISTS (SELECT 1 FROM audit_inbox);

-- name: count_unlinked
SELECT count(*) FROM audit_inbox;

-- name: select_audit_inbox
SELECT id, token, data FROM audit_inbox ORDER BY id LIMIT :limit;

-- name: delete_audit_inbox
DELETE FROM audit_inbox WHERE id = ANY (CAST(:ids AS bigint[]));

-- name: commit_soon
-- What would be lost with the server's power is then still in the inbox.
SELECT set_config('synchronous_commit', 'off', true);

-- name: lock_audit
-- One at a time: each entry holds the digest of the one before.
LOCK TABLE audit IN SHARE ROW EXCLUSIVE MODE;

-- name: insert_audit
INSERT INTO audit (seq, tenant, token, data)
SELECT * FROM unnest(CAST(:seqs AS bigint[]), CAST(:tenants AS text[]), CAST(:tokens AS text[]),
                     CAST(:datas AS bytea[]));

-- name: delete_audit
WITH old AS (
    DELETE FROM audit WHERE seq IN (
        SELECT seq FROM audit WHERE seq <= :through AND seq < (SELECT max(seq) FROM audit) ORDER BY seq LIMIT :limit)
    RETURNING seq
)
SELECT count(*) FROM old;

-- name: select_last_audit
SELECT seq, tenant, data FROM audit ORDER BY seq DESC LIMIT 1;

-- name: select_audit_of
SELECT data FROM audit WHERE token = :token AND token <> '' ORDER BY seq;

-- name: select_audit
SELECT seq, tenant, data FROM audit WHERE seq > :after /* filters */ ORDER BY seq LIMIT :limit;

-- name: select_newest_audit
SELECT seq, tenant, data FROM audit WHERE seq < :before /* filters */ ORDER BY seq DESC LIMIT :limit;

-- name: delete_runs
-- Only runs that have ended. In the order of their numbers, so that two who delete do not wait for one another.
DELETE FROM runs WHERE number IN (
    SELECT number FROM runs WHERE run_id = ANY (CAST(:run_ids AS text[]))
    AND status IN ('completed', 'completed_with_errors', 'failed', 'cancelled') ORDER BY number FOR UPDATE
) RETURNING number, run_id;

-- name: delete_run_events
DELETE FROM events WHERE number = ANY (CAST(:numbers AS bigint[]));

-- name: delete_run_secrets
DELETE FROM records WHERE kind = 'run_secret' AND parent <> '' AND parent = ANY (CAST(:run_ids AS text[]));

-- name: delete_run_signals
DELETE FROM signals WHERE number = ANY (CAST(:numbers AS bigint[]));

-- name: lock_blobs
-- An append that points to one of them waits, or is waited for.
SELECT 1 FROM blobs WHERE digest IN (SELECT digest FROM blob_uses WHERE number = ANY (CAST(:numbers AS bigint[])))
ORDER BY digest FOR UPDATE;

-- name: delete_orphaned_blobs
-- After `lock_blobs`, and in a statement of its own: the blobs that no other run's events point to.
DELETE FROM blobs WHERE digest IN (
    SELECT digest FROM blob_uses AS used WHERE used.number = ANY (CAST(:numbers AS bigint[]))
    AND NOT EXISTS (SELECT 1 FROM blob_uses AS other
                    WHERE other.digest = used.digest AND other.number <> ALL (CAST(:numbers AS bigint[])))
);

-- name: delete_blob_uses
DELETE FROM blob_uses WHERE number = ANY (CAST(:numbers AS bigint[]));
