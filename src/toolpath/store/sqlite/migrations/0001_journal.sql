-- The first schema: runs with their events, blobs and signals; kept results; statistics of tools.

-- One row a run. `epoch` and `last_seq` fence its journal: an append names the epoch it drives with and the event it
-- follows, and changes no row when either has moved on. `number` names the run inside this file; it is never given twice.
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    ended_at REAL,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    driver TEXT NOT NULL,
    driver_seen_at REAL NOT NULL,
    last_seq INTEGER NOT NULL,
    idempotency_key TEXT NOT NULL,
    parent TEXT NOT NULL
);

CREATE UNIQUE INDEX runs_idempotency ON runs (tenant, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX runs_age ON runs (created_at, run_id);
CREATE INDEX runs_status ON runs (status, created_at, run_id);
CREATE INDEX runs_driver ON runs (driver) WHERE driver <> '';

-- The journal: `data` is the event as JSON text, `id` the run's number times 2^32 plus the event's `seq`. So the events of
-- a run lie side by side in one tree with short keys: measured, a third less time and half the log of (run_id, seq).
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    data BLOB NOT NULL
);

-- The same for people who look into the file.
CREATE VIEW journal AS
SELECT runs.run_id, events.id & 4294967295 AS seq, CAST(events.data AS TEXT) AS event
FROM events JOIN runs ON runs.number = events.id >> 32;

-- Values too large for an event, stored once.
CREATE TABLE blobs (
    digest TEXT PRIMARY KEY,
    data BLOB NOT NULL
);

-- Which runs' events point to which blob, so that a blob goes with the last of them.
CREATE TABLE blob_uses (
    digest TEXT NOT NULL,
    run_id TEXT NOT NULL,
    PRIMARY KEY (digest, run_id)
) WITHOUT ROWID;

CREATE INDEX blob_uses_run ON blob_uses (run_id);

-- What people and programs told a run and its driver has not yet journaled. Ids are never used twice.
CREATE TABLE signals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL,
    data BLOB NOT NULL
);

CREATE INDEX signals_run ON signals (run_id, id);

-- Kept results of tools.
CREATE TABLE cache (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    value BLOB NOT NULL,
    expires_at REAL NOT NULL
) WITHOUT ROWID;

CREATE INDEX cache_owner ON cache (owner);
CREATE INDEX cache_expiry ON cache (expires_at);

-- Statistics by tool key, as JSON text.
CREATE TABLE tool_stats (
    tool TEXT PRIMARY KEY,
    data BLOB NOT NULL
) WITHOUT ROWID;

-- Facts about this file.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
