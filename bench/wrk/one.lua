-- Hits of one code: what an edge can do where all that it needs stays in the processor's caches.
--
--   wrk -t1 -c64 -d10s -s bench/wrk/one.lua http://127.0.0.1:8080

local visits = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "visits.lua")

visits.redirects(1, function()
  return function() return 0 end
end)
