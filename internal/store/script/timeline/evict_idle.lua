-- evict_idle deletes the list of a timeline that nobody has read for some days and nobody watches.
-- The next read rebuilds it.
--
-- KEYS   1 list   2 owner: account, or properties of the list   3 online
--        4 for a home: pull watermarks
-- ARGV   1 name of the timeline   2 days
-- Reply  1, or 0 if the list is kept
--@include idle

if redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 1 then
  return 0
end
local found = redis.call('HMGET', KEYS[2], 'last_read', 'created')
local last = tonumber(found[1]) or math.floor(tonumber(found[2] or '0') / 86400000)
if today() - last <= tonumber(ARGV[2]) then
  return 0
end
if KEYS[4] then
  redis.call('DEL', KEYS[4])
end
return redis.call('DEL', KEYS[1])
