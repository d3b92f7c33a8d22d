-- Moves a filter on by positions that follow its own without a gap, and never
-- makes one.
-- KEYS[1] the filter; ARGV[1] epoch and ARGV[2] shape as in the header, ARGV[3] length of the string,
-- ARGV[4] the first position, ARGV[5] the last one as in the header; then for each position the bits to set, as
-- packed 32-bit numbers of the whole string's bits.
-- Returns 'ok', also for positions it has already; 'missing', 'epoch', 'shape' or 'gap' when nothing was done.
local header = redis.pcall('GETRANGE', KEYS[1], 0, 31)
if type(header) ~= 'string' or #header < 32 or string.sub(header, 1, 4) ~= 'WPB2' then
	return 'missing'
end
if string.sub(header, 9, 16) ~= ARGV[1] then
	return 'epoch'
end
if string.sub(header, 25, 32) ~= ARGV[2] then
	return 'shape'
end
local high, low = struct.unpack('>I4I4', header, 17)
if high >= 2097152 or redis.call('STRLEN', KEYS[1]) ~= tonumber(ARGV[3]) then
	return 'missing'
end

local position = high * 4294967296 + low
local known = position + 1 - tonumber(ARGV[4])
if known < 0 then
	return 'gap'
end
if known >= #ARGV - 5 then
	return 'ok'
end

-- Bits before the position: cut off in between, the filter says "maybe" once
-- more often.
for row = 6 + known, #ARGV do
	local bits = ARGV[row]
	for at = 1, #bits, 4 do
		redis.call('SETBIT', KEYS[1], struct.unpack('>I4', bits, at), 1)
	end
end
redis.call('SETRANGE', KEYS[1], 16, ARGV[5])
return 'ok'
