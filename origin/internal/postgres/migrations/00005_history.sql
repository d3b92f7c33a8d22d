-- +goose Up

-- What became of calls that are to be carried out once, for a day. call is a digest of who asks and of the name that
-- they gave the call, request one of what is asked for: the same in all items of a call. link is the link as it was
-- answered.
CREATE TABLE once (
    call    bytea       NOT NULL CHECK (octet_length(call) = 32),
    item    integer     NOT NULL CHECK (item >= 0),
    request bytea       NOT NULL CHECK (octet_length(request) = 32),
    at      timestamptz NOT NULL,
    reused  boolean     NOT NULL,
    link    json        NOT NULL,
    PRIMARY KEY (call, item)
);
CREATE INDEX once_at ON once (at);

-- The history of a key goes on when its link is deleted and another one takes the key: it is found by the link_id of the
-- first, which is this one's where nothing is said.
ALTER TABLE links ADD COLUMN history_id bigint;

-- One row a version: who made it, and what it changed, as {field: {from, to}}. Older content is that of links with the
-- changes since taken back, so that old rows can go and nothing is kept twice. number counts the rows of a history.
-- An index in the order of versions would be written all over the place by creations; new histories come at its end.
CREATE TABLE link_history (
    history_id bigint      NOT NULL,
    version    bigint      NOT NULL CHECK (version > 0),
    previous   bigint      NOT NULL CHECK (previous < version),
    number     integer     NOT NULL CHECK (number > 0),
    at         timestamptz NOT NULL,
    by_key     text        NOT NULL,
    owner      text        NOT NULL,
    action     text        NOT NULL CHECK (action IN ('create', 'change', 'delete', 'restore', 'rollback')),
    changes    json        NOT NULL,
    PRIMARY KEY (history_id, version)
);
CREATE INDEX link_history_at ON link_history (at);
-- Finds the histories that have become too long, without a look at the others.
CREATE INDEX link_history_number ON link_history (number) WHERE number % 100 = 0;
