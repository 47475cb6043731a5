-- Claims over HTTP: `wrk -s claims.lua URL -- PLAN MODE RUN`. MODE is `claim`, or `pair` for a claim and its commit.
-- PLAN is a Lua file with `tokens` and `pools`; RUN keeps the idempotency keys of two runs apart.
local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
  thread:set("number", #threads)
end

function init(args)
  plan = dofile(args[1])
  is_pair = args[2] == "pair"
  run = args[3]
  sent, claims, commits, empty, faults, others = 0, 0, 0, 0, 0, 0
  held = {}
  token = plan.tokens[(number - 1) % #plan.tokens + 1]  -- a claim is committed by the agent that made it
  math.randomseed(os.time() + number)
end

local function post(path, body)
  sent = sent + 1
  return wrk.format("POST", path, {
    ["Authorization"] = "Bearer " .. token,
    ["Content-Type"] = "application/json",
    ["Idempotency-Key"] = run .. "-" .. number .. "-" .. sent,
  }, body)
end

function request()
  local grant = table.remove(held)
  if grant then
    return post("/api/v1/attempts/" .. grant.attempt .. "/commit",
      '{"fence":' .. grant.fence .. ',"inputDigest":"' .. grant.digest .. '","result":{"ok":true}}')
  end
  local pool = plan.pools[math.random(#plan.pools)]
  return post("/api/v1/pools/" .. pool.name .. "/claim-next", '{"schedulerEpoch":' .. pool.epoch .. ',"max":1}')
end

function response(status, headers, body)
  if status ~= 200 then
    if status >= 500 then faults = faults + 1 else others = others + 1 end
  elseif body:find('"resultCommitId"', 1, true) then
    commits = commits + 1
  else
    local fence = body:match('"fence":(%b{})')
    if not fence then
      empty = empty + 1
      return
    end
    claims = claims + 1
    if is_pair then
      held[#held + 1] = {
        fence = fence,
        attempt = fence:match('"attemptId":"([%x-]+)"'),
        digest = body:match('"inputDigest":"(sha256:%x+)"'),
      }
    end
  end
end

function done(summary, latency)
  local totals = { claims = 0, commits = 0, empty = 0, faults = 0, others = 0 }
  for _, thread in ipairs(threads) do
    for name in pairs(totals) do totals[name] = totals[name] + thread:get(name) end
  end
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"seconds":%.6f,"claims":%d,"commits":%d,"empty":%d,"faults":%d,"others":%d,"socket":%d,"p50":%.3f,"p99":%.3f}\n',
    summary.duration / 1e6, totals.claims, totals.commits, totals.empty, totals.faults, totals.others,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
