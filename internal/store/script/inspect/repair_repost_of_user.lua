-- repair_repost_of_user makes the reposts of a user hold the repost of a post that was not undone. Without such a repost, it removes
-- the entry of the post.
--
-- KEYS   1 reposts of the user   2 profile
-- ARGV   1 user   2 field: the post   3 post key prefix
-- Reply  1
--@include ids

local function lives(repost)
  local stored = redis.call('HMGET', ARGV[3] .. repost, 'author', 'reposted', 'deleted')
  return stored[1] == ARGV[1] and stored[2] == ARGV[2] and not stored[3]
end

local held = redis.call('HGET', KEYS[1], ARGV[2])
if held and lives(held) then
  return 1
end
for _, entry in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  if shown(entry) == ARGV[2] and leading(entry) ~= ARGV[2] and lives(leading(entry)) then
    redis.call('HSET', KEYS[1], ARGV[2], leading(entry))
    return 1
  end
end
redis.call('HDEL', KEYS[1], ARGV[2])
return 1
