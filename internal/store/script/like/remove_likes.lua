-- remove_likes removes both directions of the next likes of a deleted post in this partition.
--
-- KEYS   1 likers of the post in this partition
-- ARGV   1 post   2 likes per call   3 prefix of the keys of the likes of users
-- Reply  1 if no like remains, else 0
local users = redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[2]) - 1)
for _, user in ipairs(users) do
  redis.call('ZREM', ARGV[3] .. user, ARGV[1])
end
if #users > 0 then
  redis.call('ZREM', KEYS[1], unpack(users))
end
return 1 - redis.call('EXISTS', KEYS[1])
