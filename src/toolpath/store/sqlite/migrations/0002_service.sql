-- What the service needs: runs of stored plans and conversations, records, and the audit trail.

ALTER TABLE runs ADD COLUMN plan_id TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN conversation_id TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;

CREATE INDEX runs_tenant ON runs (tenant, created_at, run_id);
CREATE INDEX runs_plan ON runs (plan_id, created_at, run_id) WHERE plan_id <> '';
CREATE INDEX runs_conversation ON runs (conversation_id, created_at, run_id) WHERE conversation_id <> '';

-- One row a process that drives runs, so that saying "I am alive" costs the same however many runs it drives.
CREATE TABLE drivers (
    driver TEXT PRIMARY KEY,
    seen_at REAL NOT NULL
) WITHOUT ROWID;

DROP INDEX runs_driver;

-- A run as it is listed.
CREATE VIEW listed AS
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, user, epoch, driver,
       max(driver_seen_at, coalesce((SELECT seen_at FROM drivers WHERE drivers.driver = runs.driver), 0.0))
           AS driver_seen_at,
       last_seq, idempotency_key, parent, plan_id, conversation_id, priority
FROM runs;

-- Runs that are gone and whose events are still to be deleted, some at a time.
CREATE TABLE deleted (
    number INTEGER PRIMARY KEY
);

-- JSON objects of any kind by id.
CREATE TABLE records (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    data BLOB NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
);

CREATE INDEX records_age ON records (kind, created_at, id);
CREATE INDEX records_tenant ON records (kind, tenant, created_at, id);
CREATE INDEX records_parent ON records (kind, parent, created_at, id) WHERE parent <> '';

-- The audit trail: `data` is the whole entry as JSON text, which holds the digest of the entry before.
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    data BLOB NOT NULL
);

CREATE INDEX audit_tenant ON audit (tenant, seq);
