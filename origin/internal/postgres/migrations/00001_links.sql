-- +goose Up

-- Positions compare as (epoch, seq). The epoch goes up whenever the database is not the one it was: another cluster,
-- another timeline, a restored backup.
CREATE TABLE epoch (
    one               boolean PRIMARY KEY DEFAULT true CHECK (one),
    n                 bigint  NOT NULL CHECK (n > 0),
    system_identifier bigint  NOT NULL,
    timeline          bigint  NOT NULL
);
INSERT INTO epoch (n, system_identifier, timeline)
SELECT 1, system_identifier,
       ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint
FROM pg_control_system();

-- The last position of each shard; 64 is the config shard. Every write updates a row here and holds it to its commit:
-- nearly empty pages leave room for the dead versions, so that updates stay on their page.
CREATE TABLE shard_head (
    shard smallint PRIMARY KEY CHECK (shard BETWEEN 0 AND 64),
    seq   bigint   NOT NULL DEFAULT 0 CHECK (seq >= 0)
) WITH (fillfactor = 10);
INSERT INTO shard_head (shard) SELECT generate_series(0, 64);

CREATE SEQUENCE link_id_seq;

-- One row a key, for ever: a deleted link stays as a tombstone that keeps its version. Keys sort by their bytes,
-- whatever the database's locale is.
CREATE TABLE links (
    link_id     bigint      PRIMARY KEY,
    domain      text        COLLATE "C" NOT NULL CHECK (octet_length(domain) <= 253),
    code        text        COLLATE "C" NOT NULL CHECK (char_length(code) BETWEEN 1 AND 64),
    shard       smallint    NOT NULL CHECK (shard BETWEEN 0 AND 63),
    version     bigint      NOT NULL CHECK (version > 0),
    generated   boolean     NOT NULL,
    target      text        NOT NULL CHECK (octet_length(target) BETWEEN 1 AND 32768),
    target_hash bigint      NOT NULL,
    status      smallint    NOT NULL CHECK (status IN (301, 302, 307, 308)),
    enabled     boolean     NOT NULL,
    owner       text        NOT NULL,
    title       text        NOT NULL,
    tags        text[]      NOT NULL CHECK (cardinality(tags) <= 32),
    query       text        NOT NULL CHECK (query IN ('off', 'append', 'request', 'target')),
    suffix      text        NOT NULL CHECK (suffix IN ('off', 'append')),
    class       text        NOT NULL CHECK (class IN ('available', 'strict')),
    clicks      boolean     NOT NULL,
    starts_at   timestamptz,
    expires_at  timestamptz,
    expired_url text        NOT NULL CHECK (octet_length(expired_url) <= 32768),
    max_clicks  bigint      NOT NULL CHECK (max_clicks >= 0),
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    deleted_at  timestamptz,
    UNIQUE (domain, code)
);
-- All keys of a shard in order, for the pages that filters are rebuilt from.
CREATE INDEX links_shard ON links (shard, domain, code);
CREATE INDEX links_created ON links (created_at, link_id) WHERE deleted_at IS NULL;
CREATE INDEX links_owner ON links (owner, created_at, link_id) WHERE deleted_at IS NULL;
CREATE INDEX links_tags ON links USING gin (tags) WHERE deleted_at IS NULL;
-- A target can be longer than an index entry, so its hash finds it and the query compares the rest.
CREATE INDEX links_reuse ON links (target_hash)
    WHERE generated AND deleted_at IS NULL AND starts_at IS NULL AND expires_at IS NULL;

-- One row a position: the same bytes that are published.
CREATE TABLE outbox (
    shard  smallint    NOT NULL,
    seq    bigint      NOT NULL CHECK (seq > 0),
    kind   smallint    NOT NULL CHECK (kind BETWEEN 1 AND 4),
    at     timestamptz NOT NULL,
    domain text        NOT NULL,
    code   text        NOT NULL,
    value  bytea       NOT NULL,
    PRIMARY KEY (shard, seq)
);

-- What stands on the config shard: domains and what else every edge needs.
CREATE TABLE config_row (
    name  text COLLATE "C" PRIMARY KEY CHECK (name <> ''),
    value text NOT NULL CHECK (value <> '')
);

CREATE TABLE api_key (
    id         text        COLLATE "C" PRIMARY KEY CHECK (id <> ''),
    hash       bytea       NOT NULL CHECK (octet_length(hash) = 32),
    owner      text        NOT NULL,
    scopes     text[]      NOT NULL,
    note       text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz
);

-- Machine ids of snowflake codes. A holder uses only times within its lease, so leases of one id never overlap in the
-- codes they made either.
CREATE TABLE machine_lease (
    machine    smallint    PRIMARY KEY CHECK (machine BETWEEN 0 AND 1023),
    holder     text        NOT NULL DEFAULT '',
    leased_at  timestamptz NOT NULL DEFAULT '-infinity',
    expires_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 50);
INSERT INTO machine_lease (machine) SELECT generate_series(0, 1023);

-- 100,001 is the first code of three characters that looks like nothing in particular: q0V.
CREATE SEQUENCE code_counter START 100001 MINVALUE 100001;
