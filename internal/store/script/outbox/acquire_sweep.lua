-- acquire_sweep acquires or renews the lease of the sweep. It fails if another worker holds the
-- lease, or if the last sweep ended recently. A lease from the future is void: the clock went back since.
--
-- KEYS   1 sweep
-- ARGV   1 worker   2 TTL of the lease in milliseconds   3 minimum milliseconds between sweeps
-- Reply  1 if the worker holds the lease now, else 0
--@include clock
local now = unix_ms()
local found = redis.call('HMGET', KEYS[1], 'worker', 'since', 'until', 'ended')
if found[1] and found[1] ~= ARGV[1] and tonumber(found[2]) <= now and now < tonumber(found[3]) then
  return 0
end
if found[4] and math.abs(now - tonumber(found[4])) < tonumber(ARGV[3]) then
  return 0
end
redis.call('HSET', KEYS[1], 'worker', ARGV[1], 'since', string.format('%.0f', now), 'until', string.format('%.0f', now + tonumber(ARGV[2])))
return 1
