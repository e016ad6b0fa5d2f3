-- 2026-01-01T00:00:00Z in seconds: what ids and follow times count from.
local EPOCH = 1767225600

local function unix_ms()
  local now = redis.call('TIME')
  return tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
end

-- tick returns the partition's next instant in microseconds since the epoch. No two
-- are equal and none is below an earlier one, whatever the system's clock does.
local function tick(clock)
  local now = redis.call('TIME')
  local instant = (tonumber(now[1]) - EPOCH) * 1000000 + tonumber(now[2])
  local last = tonumber(redis.call('GET', clock) or '0')
  if instant <= last then
    instant = last + 1
  end
  redis.call('SET', clock, string.format('%.0f', instant))
  return instant
end
