-- set_follower_counts stores the number of an author's followers in partitions, unless a newer
-- version is stored. It keeps the author's follower count equal to the sum over the partitions.
--
-- KEYS   1 account of the author   2 follower partitions
-- ARGV   1… partition, version, followers there
-- Reply  1, or 0 if the author does not exist or is being deleted
local state = redis.call('HGET', KEYS[1], 'state')
if not state or state == 'deleted' then
  return 0
end
for i = 1, #ARGV, 3 do
  local version, count = string.match(redis.call('HGET', KEYS[2], ARGV[i]) or '0:0', '^(%d+):(%d+)$')
  if tonumber(version) < tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1] .. ':' .. ARGV[i + 2])
    redis.call('HINCRBY', KEYS[1], 'followers', tonumber(ARGV[i + 2]) - tonumber(count))
  end
end
return state == 'active' and 1 or 0
