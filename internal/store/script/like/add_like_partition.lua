-- add_like_partition records that a partition may hold likers of a post. The record remains as long as the post.
--
-- KEYS   1 post   2 like partitions
-- ARGV   1 partition
-- Reply  1, or 0 if there is no such post
if redis.call('HEXISTS', KEYS[1], 'text') == 0 then
  return 0
end
redis.call('HSETNX', KEYS[2], ARGV[1], '0:0')
return 1
