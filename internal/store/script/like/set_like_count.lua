-- set_like_count stores the number of likers of a post in a partition, unless a newer version is stored. It keeps the field
-- total, the number of likes of the post, equal to the sum over the partitions. If the post does not exist, it removes the
-- partition when no likers remain there. It publishes a change to the nodes that serve events of counts.
--
-- KEYS   1 post   2 like partitions   3 online   4 online nodes
-- ARGV   1 partition   2 version   3 likers there   4 post   5 PUBLISH or SPUBLISH   6 channel prefix
--        7 name under which nodes register
-- Reply  'changed'; 'same' if this number was stored already; 'newer' if a newer version has another number; or 'gone' if
--        there is no such post
--@include publish

local version, count = string.match(redis.call('HGET', KEYS[2], ARGV[1]) or '0:0', '^(%d+):(%d+)$')
if redis.call('HEXISTS', KEYS[1], 'text') == 0 then
  if ARGV[3] == '0' then
    redis.call('HDEL', KEYS[2], ARGV[1])
    if redis.call('HLEN', KEYS[2]) == redis.call('HEXISTS', KEYS[2], 'total') then
      redis.call('DEL', KEYS[2])
    end
  end
  return 'gone'
end
if tonumber(version) >= tonumber(ARGV[2]) then
  return count == ARGV[3] and 'same' or 'newer'
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2] .. ':' .. ARGV[3])
if count == ARGV[3] then
  return 'same'
end
redis.call('HINCRBY', KEYS[2], 'total', tonumber(ARGV[3]) - tonumber(count))
publish(KEYS[4], ARGV[5], ARGV[6], '# ' .. ARGV[4], watched(KEYS[3], { ARGV[7] }))
return 'changed'
