-- Puts an entry's bytes (feed.Entry.Append) in place of older ones.
-- KEYS[1] the value; ARGV[1] the bytes, ARGV[2] its TTL in ms, ARGV[3] 'present' to replace only.
-- Returns 1 if it was written.
local new = ARGV[1]
local old = redis.pcall('GET', KEYS[1])

if old == false and ARGV[3] == 'present' then
	return 0
end

-- A reply that is no string is another type's error; such a key, and bytes too
-- short for a head, are damage.
if type(old) == 'string' and #old >= 17 then
	local oldFormat, newFormat = string.byte(old), string.byte(new)
	if oldFormat > newFormat and redis.call('PTTL', KEYS[1]) > 0 then
		return 0 -- a newer program's; what never had a TTL is nobody's
	end
	if oldFormat == newFormat then
		-- Format byte, epoch, asof; 64 bits in two halves each, since Lua counts
		-- in doubles. No epoch or position is beyond 2^53: that is damage too.
		local oe1, oe2, oa1, oa2 = struct.unpack('>I4I4I4I4', old, 2)
		local ne1, ne2, na1, na2 = struct.unpack('>I4I4I4I4', new, 2)
		if oe1 < 2097152 and oa1 < 2097152 then
			local oldEpoch, oldAsOf = oe1 * 4294967296 + oe2, oa1 * 4294967296 + oa2
			local newEpoch, newAsOf = ne1 * 4294967296 + ne2, na1 * 4294967296 + na2
			if oldEpoch > newEpoch or oldEpoch == newEpoch and oldAsOf > newAsOf or old == new then
				return 0
			end
		end
	end
end

redis.call('SET', KEYS[1], new, 'PX', ARGV[2])
return 1
