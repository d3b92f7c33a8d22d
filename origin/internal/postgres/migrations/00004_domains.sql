-- +goose Up

-- The position of the change that made a row what it is: 0 for rows from before this column.
ALTER TABLE config_row ADD COLUMN version bigint NOT NULL DEFAULT 0 CHECK (version >= 0);

-- Finds a live link of a domain, which keeps the domain from being deleted, and lists a domain's links. A tombstone is in
-- neither.
CREATE INDEX links_domain ON links (domain, created_at, link_id) WHERE deleted_at IS NULL;
