-- +goose Up

-- How fast a key may create links: a second, and at once. 0: as the service is set.
ALTER TABLE api_key
    ADD create_rate  double precision NOT NULL DEFAULT 0 CHECK (create_rate = 0 OR create_rate BETWEEN 0.01 AND 10000),
    ADD create_burst integer          NOT NULL DEFAULT 0 CHECK (create_burst BETWEEN 0 AND 1000000);
