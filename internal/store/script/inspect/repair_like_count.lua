-- repair_like_count sets the number of likes of a post to the sum over the like partitions. It resets the version of the number of
-- likers in one partition, so that any later count replaces this number.
--
-- KEYS   1 post   2 like partitions
-- ARGV   1 partition
-- Reply  1, or 0 if there is no such post
if redis.call('HEXISTS', KEYS[1], 'text') == 0 then
  return 0
end
local count = string.match(redis.call('HGET', KEYS[2], ARGV[1]) or '', ':(%d+)$') or '0'
redis.call('HSET', KEYS[2], ARGV[1], '0:' .. count)
local total, fields = 0, redis.call('HGETALL', KEYS[2])
for i = 1, #fields, 2 do
  total = total + tonumber(string.match(fields[i + 1], ':(%d+)$') or '0')
end
redis.call('HSET', KEYS[2], 'total', total)
return 1
