-- The first schema. Like that of SQLite, but for what many machines need. All times are Unix time in seconds.

-- One row a run. `epoch` and `last_seq` fence its journal: an append names the epoch it drives with and the event it
-- follows, and changes no row when either has moved on. Rows change with every append: room is left for that in the page.
CREATE TABLE runs (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    ended_at DOUBLE PRECISION,
    tenant TEXT NOT NULL,
    "user" TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    driver TEXT NOT NULL,
    driver_seen_at DOUBLE PRECISION NOT NULL,
    last_seq INTEGER NOT NULL,
    idempotency_key TEXT NOT NULL,
    parent TEXT NOT NULL,
    plan_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    priority INTEGER NOT NULL
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX runs_idempotency ON runs (tenant, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX runs_age ON runs (created_at, run_id);
CREATE INDEX runs_status ON runs (status, created_at, run_id);
CREATE INDEX runs_tenant ON runs (tenant, created_at, run_id);
CREATE INDEX runs_plan ON runs (plan_id, created_at, run_id) WHERE plan_id <> '';
CREATE INDEX runs_conversation ON runs (conversation_id, created_at, run_id) WHERE conversation_id <> '';

-- One row a process that drives runs; `seen_at` is the database's time.
CREATE TABLE drivers (
    driver TEXT PRIMARY KEY,
    seen_at DOUBLE PRECISION NOT NULL
);

-- A run as it is listed.
CREATE VIEW listed AS
SELECT run_id, name, status, reason, created_at, updated_at, ended_at, tenant, "user", epoch, driver,
       greatest(driver_seen_at, (SELECT seen_at FROM drivers WHERE drivers.driver = runs.driver)) AS driver_seen_at,
       last_seq, idempotency_key, parent, plan_id, conversation_id, priority
FROM runs;

-- The journal: `data` is the event as JSON text in UTF-8.
CREATE TABLE events (
    number BIGINT NOT NULL,
    seq INTEGER NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (number, seq)
);

-- The same for people who look into the database.
CREATE VIEW journal AS
SELECT run_id, seq, convert_from(data, 'UTF8') AS event FROM events JOIN runs USING (number);

-- Values too large for an event, stored once.
CREATE TABLE blobs (
    digest TEXT PRIMARY KEY,
    data BYTEA NOT NULL
);

-- Which runs' events point to which blob, so that a blob goes with the last of them.
CREATE TABLE blob_uses (
    digest TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (digest, number)
);

CREATE INDEX blob_uses_run ON blob_uses (number);

-- What people and programs told a run and its driver has not yet journaled. `token` tells a repeated put.
CREATE TABLE signals (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number BIGINT NOT NULL,
    token TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    data BYTEA NOT NULL
);

CREATE INDEX signals_run ON signals (number, id);

-- Kept results of tools.
CREATE TABLE cache (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    value BYTEA NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL
);

CREATE INDEX cache_owner ON cache (owner);
CREATE INDEX cache_expiry ON cache (expires_at);

-- Statistics by tool key, as JSON text.
CREATE TABLE tool_stats (
    tool TEXT PRIMARY KEY,
    data BYTEA NOT NULL
);

-- JSON objects of any kind by id.
CREATE TABLE records (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    parent TEXT NOT NULL,
    name TEXT NOT NULL,
    data BYTEA NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
);

CREATE INDEX records_age ON records (kind, created_at, id);
CREATE INDEX records_tenant ON records (kind, tenant, created_at, id);
CREATE INDEX records_parent ON records (kind, parent, created_at, id) WHERE parent <> '';

-- The audit trail: `data` is the whole entry as JSON text, which holds the digest of the entry before.
CREATE TABLE audit (
    seq BIGINT PRIMARY KEY,
    tenant TEXT NOT NULL,
    data BYTEA NOT NULL
);

CREATE INDEX audit_tenant ON audit (tenant, seq);
