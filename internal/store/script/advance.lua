-- advance notes that every entry of an outbox up to one is carried out here, and forgets
-- the positions of those. It never goes back.
--
-- KEYS   1 progress
-- ARGV   1 entry
-- Reply  'ok'
--@include progress

local low = redis.call('HGET', KEYS[1], 'low')
if low and up_to(ARGV[1], low) then
  return 'ok'
end
redis.call('HSET', KEYS[1], 'low', ARGV[1])
local finished = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local entry = string.match(field, '^%d+%-%d+')
  if entry and up_to(entry, ARGV[1]) then
    finished[#finished + 1] = field
  end
end
for from = 1, #finished, 500 do
  redis.call('HDEL', KEYS[1], unpack(finished, from, math.min(from + 499, #finished)))
end
return 'ok'
