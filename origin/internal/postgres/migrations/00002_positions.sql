-- +goose Up

-- One row a run of an edge, never taken over by another run. Writes wait for those that have not left, and for those
-- that left less than the stale bound ago, whose last lease may still run.
CREATE TABLE edge_member (
    id        text        COLLATE "C" CHECK (octet_length(id) BETWEEN 1 AND 64),
    boot      text        COLLATE "C" CHECK (octet_length(boot) BETWEEN 1 AND 64),
    joined_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    left_at   timestamptz,
    PRIMARY KEY (id, boot)
);

-- How old an unmarked answer of an edge may be, and what it was before. since is when the change was known to be
-- committed: infinity in between.
CREATE TABLE stale_bound (
    one      boolean     PRIMARY KEY DEFAULT true CHECK (one),
    value    interval    NOT NULL CHECK (value > '0'),
    previous interval    NOT NULL CHECK (previous > '0'),
    since    timestamptz NOT NULL
);
INSERT INTO stale_bound (value, previous, since) VALUES ('1 second', '1 second', '-infinity');

-- One row a position: the same bytes that are published. A partition holds the changes of one day (UTC), so that old
-- ones go by dropping a table. Positions are unique within each partition; across two of them the locked head that
-- gives them out sees to it, as no unique index without the time could. The constraints have the names of those of the
-- table before, which an attached table must have.
ALTER TABLE outbox RENAME TO outbox_before;
ALTER TABLE outbox_before RENAME CONSTRAINT outbox_pkey TO outbox_before_pkey;
CREATE TABLE outbox (
    shard  smallint    NOT NULL,
    seq    bigint      NOT NULL CONSTRAINT outbox_seq_check CHECK (seq > 0),
    kind   smallint    NOT NULL CONSTRAINT outbox_kind_check CHECK (kind BETWEEN 1 AND 4),
    at     timestamptz NOT NULL,
    domain text        NOT NULL,
    code   text        NOT NULL,
    value  bytea       NOT NULL
) PARTITION BY RANGE (at);

-- Takes what no day's partition is there for: a write never fails for the lack of one.
CREATE TABLE outbox_default PARTITION OF outbox (PRIMARY KEY (shard, seq)) DEFAULT;

-- The rows so far become the partition of everything up to today's end, without being copied. Those that a clock which
-- was wrong put further ahead move to the default partition.
-- +goose StatementBegin
DO $$
DECLARE
    today timestamptz := date_trunc('day', clock_timestamp(), 'UTC');
    name  text := 'outbox_' || to_char(today AT TIME ZONE 'UTC', 'YYYYMMDD');
    bound timestamptz := today + interval '24 hours';
BEGIN
    WITH ahead AS (DELETE FROM outbox_before WHERE at >= bound RETURNING *)
    INSERT INTO outbox SELECT * FROM ahead;
    IF EXISTS (SELECT FROM outbox_before) THEN
        EXECUTE format('ALTER TABLE outbox_before RENAME CONSTRAINT outbox_before_pkey TO %I', name || '_pkey');
        EXECUTE format('ALTER TABLE outbox_before RENAME TO %I', name);
        EXECUTE format('ALTER TABLE outbox ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', name, bound);
    ELSE
        DROP TABLE outbox_before;
    END IF;
END $$;
-- +goose StatementEnd
