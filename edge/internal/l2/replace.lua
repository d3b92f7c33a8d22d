-- Puts a filter that was built anew in place of one that is worse.
-- KEYS[1] the filter; ARGV[1] the new string, ARGV[2] the generation that was found wrong, as in the header, or ''.
-- Returns 'ok'; 'kept' when what is there is of a newer epoch, larger, or further on.
local function numbers(header)
	local e1, e2, p1, p2, m, k = struct.unpack('>I4I4I4I4I4I4', header, 9)
	return e1 * 4294967296 + e2, p1 * 4294967296 + p2, m, k, e1 < 2097152 and p1 < 2097152
end

local function better(old, new)
	local oldEpoch, oldPosition, oldM, oldK, sound = numbers(old)
	local newEpoch, newPosition, newM, newK = numbers(new)
	if not sound or redis.call('STRLEN', KEYS[1]) ~= 32 + oldM / 8 then
		return false
	end
	if oldEpoch ~= newEpoch then
		return oldEpoch > newEpoch
	end
	-- Edges with different settings must not undo each other's work for ever.
	if oldM ~= newM then
		return oldM > newM
	end
	if oldK ~= newK then
		return oldK > newK
	end
	return oldPosition > newPosition
end

local old = redis.pcall('GETRANGE', KEYS[1], 0, 31)
if type(old) == 'string' and #old == 32 and string.sub(old, 1, 4) == 'WPB2'
	and string.sub(old, 5, 8) ~= ARGV[2] and better(old, ARGV[1]) then
	return 'kept'
end
redis.call('SET', KEYS[1], ARGV[1])
return 'ok'
