-- What running it for many needs: whose turn it is among runs that wait for a worker, and what runs wait for people to
-- say. Both are told by the run's row, so that nobody has to read journals for it.

-- Where the run stands among those that wait for a worker; null where it waits for none. `rank` orders those of a tenant.
ALTER TABLE runs ADD COLUMN turn INTEGER;
ALTER TABLE runs ADD COLUMN rank INTEGER NOT NULL DEFAULT 0;

CREATE INDEX runs_turn ON runs (turn, number) WHERE turn IS NOT NULL;
CREATE INDEX runs_turn_tenant ON runs (tenant, turn) WHERE turn IS NOT NULL;
CREATE INDEX runs_turn_rank ON runs (tenant, rank DESC, number) WHERE turn IS NOT NULL;
CREATE INDEX runs_without_turn ON runs (status, tenant) WHERE turn IS NULL AND status IN ('pending', 'running');

-- The open questions as JSON, and when the first of them was asked; null where nothing is asked. They are true only while
-- `asked_epoch` is the run's epoch: older code moves on without writing them.
ALTER TABLE runs ADD COLUMN asked TEXT NOT NULL DEFAULT '[]';
ALTER TABLE runs ADD COLUMN asked_at REAL;
ALTER TABLE runs ADD COLUMN asked_epoch INTEGER NOT NULL DEFAULT -1;

CREATE INDEX runs_asking ON runs (coalesce(asked_at, created_at), run_id)
WHERE asked_at IS NOT NULL OR (status = 'waiting' AND asked_epoch <> epoch);
CREATE INDEX runs_asking_tenant ON runs (tenant, coalesce(asked_at, created_at), run_id)
WHERE asked_at IS NOT NULL OR (status = 'waiting' AND asked_epoch <> epoch);

CREATE INDEX runs_user ON runs (user, created_at, run_id) WHERE user <> '';
CREATE INDEX runs_name ON runs (name, created_at, run_id) WHERE name <> '';
