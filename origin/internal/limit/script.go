package limit

// bucketScript is bucket.take on a bucket that all origins share, atomically and
// by Redis' clock, which they have in common. There is no key where the bucket is
// full.
//
//	KEYS[1]  the bucket
//	ARGV     interval and depth of the bucket, in µs, and how many tokens are asked for
//	returns  how many were given, and what is left, in µs
const bucketScript = `
local interval, depth, asked = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local held = redis.call('GET', KEYS[1])
held = held and string.match(held, '^%d+$') and tonumber(held)
local full = math.min(math.max(held or now, now), now + depth)
local given = math.min(asked, math.floor((depth - (full - now)) / interval))
full = full + given * interval
if full ~= (held or now) then
  -- A ms more than it takes: PX counts from the ms that has begun.
  redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000) + 1)
end
return {given, depth - (full - now)}
`
