-- spend takes a cost from a budget by the generic cell rate algorithm. The budget is stored as the
-- instant at which all of it is available again. All numbers are whole microseconds far below 2^53,
-- so doubles are exact.
--
-- KEYS   1 budget   2 familiar network, optional: nothing is counted if it exists
-- ARGV   1 cost; a negative cost is a refund   2 whole budget   3 '1' if the action has happened
--        already and counts above the limit too
-- Reply  { 1 if the limit refused the action and nothing was counted, else 0; cost in use now }
--@include clock

if KEYS[2] and redis.call('EXISTS', KEYS[2]) == 1 then
  return {0, 0}
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local cost, budget = tonumber(ARGV[1]), tonumber(ARGV[2])
local used = math.max(tonumber(redis.call('GET', KEYS[1]) or '0') - now, 0)
-- If a failover moved the clock back, clients do not have to wait until it catches up.
used = math.min(used, 2 * budget)
if cost == 0 then
  return {0, used}
end
if cost > 0 and ARGV[3] ~= '1' and used + cost > budget then
  return {1, used}
end
used = math.min(math.max(used + cost, 0), 2 * budget)
if used == 0 then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], string.format('%.0f', now + used), 'PX', math.ceil(used / 1000))
end
return {0, used}
