-- The indexes of tables that may be large when they get them: built beside those who write, in no step of `migrations/`, each of
-- which is one transaction with a lock. A new schema has them from its first moment.

CREATE INDEX runs_turn ON runs (turn, number) WHERE turn IS NOT NULL;
CREATE INDEX runs_turn_tenant ON runs (tenant, turn) WHERE turn IS NOT NULL;
CREATE INDEX runs_turn_rank ON runs (tenant, rank DESC, number) WHERE turn IS NOT NULL;
CREATE INDEX runs_without_turn ON runs (status, tenant) WHERE turn IS NULL AND status IN ('pending', 'running');
CREATE INDEX runs_asking ON runs (coalesce(asked_at, created_at), run_id)
WHERE asked_at IS NOT NULL OR (status = 'waiting' AND asked_epoch <> epoch);
CREATE INDEX runs_asking_tenant ON runs (tenant, coalesce(asked_at, created_at), run_id)
WHERE asked_at IS NOT NULL OR (status = 'waiting' AND asked_epoch <> epoch);
CREATE INDEX runs_user ON runs ("user", created_at, run_id) WHERE "user" <> '';
CREATE INDEX runs_name ON runs (name, created_at, run_id) WHERE name <> '';
CREATE INDEX audit_token ON audit (token) WHERE token <> '';
