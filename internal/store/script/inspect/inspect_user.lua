-- inspect_user reads the stored state of a user atomically.
--
-- KEYS   1 account   2 following   3 profile   4 follower partitions   5 lists of the user
--        6 newest users   7 search words   8 reposts of the user
-- ARGV   1 user
-- Reply  { { state, name, posts, following, followers, profile_trimmed }, size of following,
--        number of posts on the profile without reposts, { follower partition, value, … }, lists, 1 if the user is missing
--        from the newest users, else 0, display name, words of the display name, number of words
--        without an entry }
--@include words

-- A user who is older than all newest users may have been trimmed: deletions of newer accounts do not
-- bring older ones back.
local missing = 0
if not redis.call('ZSCORE', KEYS[6], ARGV[1]) then
  local oldest = redis.call('ZRANGE', KEYS[6], 0, 0, 'WITHSCORES')
  local created = tonumber(redis.call('HGET', KEYS[1], 'created') or '0')
  if not oldest[2] or created > tonumber(oldest[2]) then
    missing = 1
  end
end

local unindexed = 0
for _, word in ipairs(name_words(KEYS[1])) do
  if not redis.call('ZSCORE', KEYS[7], word .. ' ' .. ARGV[1]) then
    unindexed = unindexed + 1
  end
end

return {
  redis.call('HMGET', KEYS[1], 'state', 'name', 'posts', 'following', 'followers', 'profile_trimmed'),
  redis.call('ZCARD', KEYS[2]),
  redis.call('LLEN', KEYS[3]) - redis.call('HLEN', KEYS[8]),
  redis.call('HGETALL', KEYS[4]),
  redis.call('ZRANGE', KEYS[5], 0, -1),
  missing,
  redis.call('HGET', KEYS[1], 'display') or '',
  redis.call('HGET', KEYS[1], 'words') or '',
  unindexed,
}
