-- Hits by Zipf's law with exponent 1 over so many links, 5,000 unless told otherwise: the second one is asked for half as
-- often as the first, the third a third as often.
--
--   wrk -t1 -c64 -d10s -s bench/wrk/zipf.lua http://127.0.0.1:8080 -- [LINKS]

local visits = dofile((debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. "visits.lua")

-- Rejection-inversion (Hörmann and Derflinger 1996) for the exponent 1, where the integral of 1/x is ln: exact, without a
-- table, and with hardly more than one try.
visits.redirects(5000, function(links)
  local log, exp, floor, random = math.log, math.exp, math.floor, math.random
  local from, to = log(1.5) - 1, log(links + 0.5)
  local near = 2 - exp(log(2.5) - 0.5) -- so near below a rank that no check is needed
  return function()
    while true do
      local u = to + random() * (from - to)
      local x = exp(u)
      local rank = math.min(math.max(floor(x + 0.5), 1), links)
      if rank - x <= near or u >= log(rank + 0.5) - 1 / rank then return rank - 1 end
    end
  end
end)
