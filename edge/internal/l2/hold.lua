-- Takes or renews the lease of a region's writer. KEYS[1] the lease; ARGV[1] who asks; ARGV[2] for how many
-- milliseconds. Returns 1 if the lease is theirs now.
local holder = redis.pcall('GET', KEYS[1])
if holder == ARGV[1] then
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	return 1
end
if holder == false and redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
	return 1
end
return 0
