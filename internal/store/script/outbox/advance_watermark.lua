-- advance_watermark notes that every entry of an outbox up to one is carried out here, and forgets
-- the positions of those, and the lanes that end with one of them. It never goes back.
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
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local entry = string.match(fields[i], '^a%l%d+$') and fields[i + 1] or string.match(fields[i], '^%d+%-%d+')
  if entry and up_to(entry, ARGV[1]) then
    finished[#finished + 1] = fields[i]
  end
end
for from = 1, #finished, 500 do
  redis.call('HDEL', KEYS[1], unpack(finished, from, math.min(from + 499, #finished)))
end
return 'ok'
