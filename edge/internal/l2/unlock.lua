-- Deletes a lock that still is one's own. KEYS[1] the lock; ARGV[1] its token. Returns 1 if it was.
if redis.pcall('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1])
end
return 0
