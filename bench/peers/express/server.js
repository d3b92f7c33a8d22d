'use strict';

// A short-link service as it is commonly built: a cache in the process, then Redis, then PostgreSQL. No limiter, no
// clicks. PORT, REDIS_URL and DATABASE_URL say where everything is.

const express = require('express');
const { LRUCache } = require('lru-cache');
const { Pool } = require('pg');
const { createClient } = require('redis');

const ENTRIES = 5000; // in the process
const SECONDS = 3600; // in Redis

async function main() {
  const memory = new LRUCache({ max: ENTRIES });
  const redis = createClient({ url: process.env.REDIS_URL });
  redis.on('error', (err) => console.error('redis:', err.message));
  await redis.connect();
  const database = new Pool({ connectionString: process.env.DATABASE_URL });

  async function target(code) {
    const held = memory.get(code);
    if (held !== undefined) return held;
    let found = await redis.get('link:' + code);
    if (found === null) {
      const { rows } = await database.query({
        name: 'target',
        text: 'SELECT target FROM links WHERE code = $1',
        values: [code],
      });
      if (rows.length === 0) return undefined;
      found = rows[0].target;
      await redis.set('link:' + code, found, { EX: SECONDS });
    }
    memory.set(code, found);
    return found;
  }

  const app = express();
  app.disable('x-powered-by');
  app.get('/:code', async (req, res) => {
    const found = await target(req.params.code);
    if (found === undefined) return res.status(404).send('Not Found\n');
    res.redirect(302, found);
  });
  const server = app.listen(Number(process.env.PORT), '127.0.0.1');
  server.keepAliveTimeout = 75_000;

  process.once('SIGTERM', () => {
    server.close(async () => {
      await Promise.all([redis.close(), database.end()]);
    });
    server.closeAllConnections();
  });
}

main().catch((err) => {
  console.error(err);
  process.exitCode = 1;
});
