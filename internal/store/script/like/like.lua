-- like writes both directions of a like. It does not change an existing one.
--
-- KEYS   1 account   2 likes of the user   3 likers of the post in this partition   4 clock   5 changed likes
-- ARGV   1 user   2 post   3 period in milliseconds
-- Reply  { 'ok', 1 if the caller stores the number of likers, version, likers here }, or { 'no_user' } if there is no such
--        user
--@include clock
--@include likes

if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return { 'no_user' }
end
local instant = string.format('%.0f', tick(KEYS[4]))
local count = 0
if redis.call('ZADD', KEYS[2], 'NX', instant, ARGV[2]) == 1 then
  redis.call('ZADD', KEYS[3], instant, ARGV[1])
  count = likes_changed(KEYS[5], ARGV[2], tonumber(ARGV[3]))
end
return { 'ok', count, instant, redis.call('ZCARD', KEYS[3]) }
