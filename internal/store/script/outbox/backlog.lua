-- backlog tells how much an outbox holds, and for how long its oldest entry has waited.
--
-- KEYS   1 outbox
-- Reply  { milliseconds since the oldest entry was made, 0 without one; entries }
--@include clock

local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if not oldest then
  return { 0, 0 }
end
local age = unix_ms() - tonumber(string.match(oldest[1], '^(%d+)'))
return { math.max(age, 0), redis.call('XLEN', KEYS[1]) }
