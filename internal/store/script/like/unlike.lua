-- unlike removes both directions of a like.
--
-- KEYS   1 likes of the user   2 likers of the post in this partition   3 clock   4 changed likes
-- ARGV   1 user   2 post   3 period in milliseconds
-- Reply  { 'ok', 1 if the caller stores the number of likers, version, likers here }
--@include clock
--@include likes

local instant = string.format('%.0f', tick(KEYS[3]))
local count = 0
if redis.call('ZREM', KEYS[1], ARGV[2]) == 1 then
  redis.call('ZREM', KEYS[2], ARGV[1])
  count = likes_changed(KEYS[4], ARGV[2], tonumber(ARGV[3]))
end
return { 'ok', count, instant, redis.call('ZCARD', KEYS[2]) }
