-- Hits of many codes, 5,000 unless told otherwise, each as often as the others.
--
--   wrk -t1 -c64 -d10s -s bench/wrk/many.lua http://127.0.0.1:8080 -- [LINKS]

local visits = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "visits.lua")

visits.redirects(5000, function(links)
  return function() return math.random(0, links - 1) end
end)
