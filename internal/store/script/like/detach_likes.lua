-- detach_likes removes both directions of the next likes of a user in the state detaching. The worker counts the posts.
--
-- KEYS   1 account   2 likes of the user   3 changed likes
-- ARGV   1 user   2 likes per call   3 prefix of the keys of likers   4 period in milliseconds
-- Reply  1 if no like remains, else 0
--@include clock
--@include likes

if redis.call('HGET', KEYS[1], 'state') ~= 'detaching' then
  return 1
end
local posts = redis.call('ZRANGE', KEYS[2], 0, tonumber(ARGV[2]) - 1)
for _, post in ipairs(posts) do
  redis.call('ZREM', ARGV[3] .. post, ARGV[1])
  likes_changed(KEYS[3], post, tonumber(ARGV[4]))
end
if #posts > 0 then
  redis.call('ZREM', KEYS[2], unpack(posts))
end
return 1 - redis.call('EXISTS', KEYS[2])
