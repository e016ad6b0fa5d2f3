-- set_reach stores how many followers an author has in a partition, unless a newer
-- version is stored, and keeps the author's follower count the sum over the partitions.
--
-- KEYS   1 author   2 reach
-- ARGV   1 partition   2 version   3 followers there
-- Reply  'ok'
local state = redis.call('HGET', KEYS[1], 'state')
local version, count = string.match(redis.call('HGET', KEYS[2], ARGV[1]) or '0:0', '^(%d+):(%d+)$')
if state and state ~= 'gone' and tonumber(version) < tonumber(ARGV[2]) then
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2] .. ':' .. ARGV[3])
  redis.call('HINCRBY', KEYS[1], 'followers', tonumber(ARGV[3]) - tonumber(count))
end
return 'ok'
