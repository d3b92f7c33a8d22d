package limit

// bucketScript takes tokens from a shared bucket, atomically and by Redis'
// clock, which all edges of the region have in common. As in a local bucket
// there is one number, the time at which it is full again, in µs; there is no
// key before the first token and none from then on.
//
//	KEYS[1]  the bucket
//	ARGV     interval (µs a token), depth (µs of a full bucket), tokens asked
//	         for, and "1" if they have been spent already and may lead into debt
//	returns  1 or 0 (taken or not), and what is left, in µs (below 0: a debt)
//
// The value is "<full> <time of writing>". A clock that has gone back since (a
// failover, an operator) would make a client wait for as long as it went back:
// full goes back with it.
const bucketScript = `
local interval, depth, asked = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = now
local held = redis.call('GET', KEYS[1])
if held then
  local at, written = string.match(held, '^(%d+) (%d+)$')
  if at then
    full = math.max(now, at - math.max(0, written - now))
  end
end
local left = depth - (full - now)
local cost = asked * interval
if cost == 0 or (left < cost and ARGV[4] ~= '1') then
  return {0, left}
end
full = full + cost
-- A ms more than it takes: PX counts from the ms that has begun.
redis.call('SET', KEYS[1], string.format('%.0f %.0f', full, now), 'PX', math.ceil((full - now) / 1000) + 1)
return {1, left - cost}
`
