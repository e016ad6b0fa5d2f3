-- backlog returns the length of an outbox and the age of its oldest entry.
--
-- KEYS   1 outbox
-- Reply  { age of the oldest entry in milliseconds, 0 if there is none; entries }
--@include clock

local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if not oldest then
  return { 0, 0 }
end
local age = unix_ms() - tonumber(string.match(oldest[1], '^(%d+)'))
return { math.max(age, 0), redis.call('XLEN', KEYS[1]) }
