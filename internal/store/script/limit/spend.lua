-- spend counts something against a budget, by the generic cell rate algorithm: the bucket
-- holds the instant at which the whole budget is there again. All numbers are whole
-- microseconds far below 2^53, so they are exact.
--
-- KEYS   1 bucket   2 mark of those who are not counted, may be left out
-- ARGV   1 what the charge takes; below zero it is given back   2 what all of the budget takes
--        3 '1' when it has happened already: then it is counted above the limit too
-- Reply  {1 when it was refused and nothing was counted, else 0; what is taken now}
--@include clock

if KEYS[2] and redis.call('EXISTS', KEYS[2]) == 1 then
  return {0, 0}
end
local time = redis.call('TIME')
local now = (tonumber(time[1]) - EPOCH) * 1000000 + tonumber(time[2])
local charge, budget = tonumber(ARGV[1]), tonumber(ARGV[2])
local used = math.max(tonumber(redis.call('GET', KEYS[1]) or '0') - now, 0)
-- After a failover to a server whose clock is behind, nobody waits for the clock.
used = math.min(used, 2 * budget)
if charge == 0 then
  return {0, used}
end
if charge > 0 and ARGV[3] ~= '1' and used + charge > budget then
  return {1, used}
end
used = math.min(math.max(used + charge, 0), 2 * budget)
if used == 0 then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], string.format('%.0f', now + used), 'PX', math.ceil(used / 1000))
end
return {0, used}
