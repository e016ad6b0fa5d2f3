local function unix_ms()
  local now = redis.call('TIME')
  return tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
end

-- tick returns the next instant of the partition's clock, in microseconds since 1970. Each instant is
-- greater than the one before, even if the clock of the system moves back.
local function tick(clock)
  local now = redis.call('TIME')
  local instant = tonumber(now[1]) * 1000000 + tonumber(now[2])
  local last = tonumber(redis.call('GET', clock) or '0')
  if instant <= last then
    instant = last + 1
  end
  redis.call('SET', clock, string.format('%.0f', instant))
  return instant
end
