-- drop_tag deletes a hashtag that no post has used for some days and nobody watches. A later delivery to the hashtag adds nothing:
-- see outbox/push_to_timeline.lua.
--
-- KEYS   1 record   2 claim of the name   3 posts   4 online
-- ARGV   1 hashtag   2 name of the timeline   3 days
-- Reply  1, or 0 if the hashtag is kept
--@include idle

local used = tonumber(redis.call('HGET', KEYS[1], 'used') or '0')
if redis.call('SISMEMBER', KEYS[4], ARGV[2]) == 1 or today() - used <= tonumber(ARGV[3]) then
  return 0
end
if string.match(redis.call('GET', KEYS[2]) or '', '^%d+') == ARGV[1] then
  redis.call('DEL', KEYS[2])
end
redis.call('UNLINK', KEYS[1], KEYS[3])
return 1
