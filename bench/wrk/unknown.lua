-- Codes that no link has, hardly any of them twice.
--
--   wrk -t1 -c64 -d10s -s bench/wrk/unknown.lua http://127.0.0.1:8080

local visits = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "visits.lua")

visits.absent(function() return ("none%08x"):format(math.random(0, 2147483647)) end)
