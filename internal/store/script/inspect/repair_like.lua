-- repair_like makes both directions of a like agree. It restores a missing direction with the time of the other, or removes
-- both if the post or the user no longer exists. The worker counts the likers.
--
-- KEYS   1 account   2 likes of the user   3 likers of the post in this partition   4 changed likes
-- ARGV   1 user   2 post   3 '1' if the post exists, else '0'
-- Reply  1
--@include clock
--@include likes

local liked, liker = redis.call('ZSCORE', KEYS[2], ARGV[2]), redis.call('ZSCORE', KEYS[3], ARGV[1])
if ARGV[3] ~= '1' or redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  redis.call('ZREM', KEYS[2], ARGV[2])
  redis.call('ZREM', KEYS[3], ARGV[1])
elseif liked or liker then
  redis.call('ZADD', KEYS[2], liked or liker, ARGV[2])
  redis.call('ZADD', KEYS[3], liked or liker, ARGV[1])
end
count_again(KEYS[4], ARGV[2])
return 1
