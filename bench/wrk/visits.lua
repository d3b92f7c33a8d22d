-- What the scripts of this folder have in common: the links that seed.sh makes, requests as browsers send them, and a look
-- at every answer.
--
-- wrk runs a script once for each of its threads, in a Lua of its own, and once more for setup and done.

local visits = {}

local agents = {
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_%d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/140.0",
}
local languages = {
  "de-DE,de;q=0.9,en;q=0.8", "en-US,en;q=0.9", "en-GB,en;q=0.9", "fr-FR,fr;q=0.8", "es-ES,es;q=0.9", "pl", "tr-TR,tr;q=0.9", "nl-NL,nl;q=0.9",
}

-- headers are the ends of so many requests, from behind the path on: 256 agents, 30 sites, 8 languages.
local function headers(n)
  local given = ""
  for name, value in pairs(wrk.headers) do -- Host, and those of wrk's option -H
    given = given .. name .. ": " .. value .. "\r\n"
  end
  local all = {}
  for i = 0, n - 1 do
    local agent = math.random(0, 255)
    all[i] = " HTTP/1.1\r\n" .. given ..
      "User-Agent: " .. agents[agent % #agents + 1]:format(100 + math.floor(agent / #agents)) .. "\r\n" ..
      "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n" ..
      "Accept-Encoding: gzip, deflate, br\r\n" ..
      ("Referer: https://site-%d.example/articles/%d\r\n"):format(math.random(0, 29), math.random(0, 999)) ..
      "Accept-Language: " .. languages[math.random(#languages)] .. "\r\n\r\n"
  end
  return all
end

-- the code and the target of the i-th link, from 0 on, as seed.sh makes them.
function visits.code(i) return ("wk%06d"):format(i) end
function visits.target(i) return ("https://example.com/somewhere/to/go?with=a&link=%06d"):format(i) end

-- What there was in this thread: answers, of which some were wrong and some limited (429), and one that was wrong. Done reads
-- them, so they are globals.
answers, wrong, limited, example = 0, 0, 0, ""

-- fault counts a wrong answer and keeps the first one.
local function fault(status, location)
  wrong = wrong + 1
  if example == "" then
    example = "status " .. status .. (location and " to " .. location or " without Location")
  end
end

-- ask has wrk send a GET for each code that pick returns, and calls check(status, location) for each answer, which is right
-- if that returns true. start(args) comes first, once a thread; args[1] is the first argument behind "--".
local function ask(start, pick, check)
  local ends, n = {}, 1024
  init = function(args)
    math.randomseed(seed) -- the same visits in every run, others in every thread
    ends = headers(n)
    start(args)
  end
  request = function() return "GET /" .. pick() .. ends[math.random(0, n - 1)] end
  response = function(status, head)
    answers = answers + 1
    local location = head["Location"] or head["location"]
    if status == 429 then
      limited = limited + 1
    elseif not check(status, location) then
      fault(status, location)
    end
  end
end

-- redirects asks for links. new(links) returns a function that picks one by its index, and is called once a thread; links
-- is the first argument behind "--", or default.
--
-- wrk does not tell which answer belongs to which request. So the targets of all requests that are under way are kept, and
-- an answer is right if it is to one of them, which it takes away: each must come as often as it was asked for.
function visits.redirects(default, new)
  local pick
  local awaited = {} -- by target: how many requests that lead there have no answer yet
  ask(function(args)
    local links = tonumber(args[1] or default)
    if not links or links < 1 then error("not a number of links: " .. args[1]) end
    pick = new(links)
  end, function()
    local i = pick()
    local target = visits.target(i)
    awaited[target] = (awaited[target] or 0) + 1
    return visits.code(i)
  end, function(status, location)
    local n = status == 302 and location and awaited[location]
    if not n then return false end
    awaited[location] = n > 1 and n - 1 or nil
    return true
  end)
end

-- absent asks for codes that no link has, each of which must get a 404.
function visits.absent(pick)
  ask(function() end, pick, function(status, location) return status == 404 and not location end)
end

local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
  thread:set("seed", #threads)
end

-- done tells what was wrong, and ends wrk with status 1 if anything was.
function done(summary)
  local total, faults, refused, first = 0, 0, 0, ""
  for _, thread in ipairs(threads) do
    total = total + thread:get("answers")
    faults = faults + thread:get("wrong")
    refused = refused + thread:get("limited")
    if first == "" then first = thread:get("example") end
  end
  local lost = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  print(("Checked: %d answers, %d wrong, %d limited, %d errors of connections"):format(total, faults, refused, lost))
  if faults > 0 then print("wrong, for example: " .. first) end
  if refused > 0 then print("limited: wrk is one client; see WAYPOST_LIMIT_RATE in README.md") end
  if total == 0 or faults + refused + lost > 0 then os.exit(1) end
end

return visits
