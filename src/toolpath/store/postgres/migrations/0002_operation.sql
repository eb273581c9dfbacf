-- What running it for many needs: whose turn it is among runs that wait for a worker, and what runs wait for people to
-- say. Both are told by the run's row, so that nobody has to read journals for it.

-- Where the run stands among those that wait for a worker; null where it waits for none. `rank` orders those of a tenant.
ALTER TABLE runs ADD COLUMN turn BIGINT;
ALTER TABLE runs ADD COLUMN rank INTEGER NOT NULL DEFAULT 0;

-- The open questions as JSON, and when the first of them was asked; null where nothing is asked. They are true only while
-- `asked_epoch` is the run's epoch: older code moves on without writing them.
ALTER TABLE runs ADD COLUMN asked TEXT NOT NULL DEFAULT '[]';
ALTER TABLE runs ADD COLUMN asked_at DOUBLE PRECISION;
ALTER TABLE runs ADD COLUMN asked_epoch INTEGER NOT NULL DEFAULT -1;
