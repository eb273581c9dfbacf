-- Entries of the audit trail that are kept and not yet links of its chain. Any number of processes add to it at once; one at
-- a time moves what is there to the chain, many entries together.
CREATE TABLE audit_inbox (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token TEXT NOT NULL,
    data BYTEA NOT NULL
);

-- By what the entries of one append are known, in the inbox and in the chain; empty where older code wrote them.
ALTER TABLE audit ADD COLUMN token TEXT NOT NULL DEFAULT '';
