-- inspect_user reads what is stored about a user, in one step.
--
-- KEYS   1 user   2 following   3 profile   4 reach   5 lists of the user   6 newest users   7 search words
-- ARGV   1 user
-- Reply  { { state, name, posts, following, followers, profile_trimmed }, following there,
--        posts on the profile, reach as field, value, …, lists, 1 for one who is not among the
--        newest and should be, else 0, display name, words of the display name, number of words without entry }
--@include words

-- Where accounts have ended, older ones are not brought back to the newest: so what is older
-- than all of these may have left them.
local unlisted = 0
if not redis.call('ZSCORE', KEYS[6], ARGV[1]) then
  local oldest = redis.call('ZRANGE', KEYS[6], 0, 0, 'WITHSCORES')
  local created = tonumber(redis.call('HGET', KEYS[1], 'created') or '0')
  if not oldest[2] or created > tonumber(oldest[2]) then
    unlisted = 1
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
  redis.call('LLEN', KEYS[3]),
  redis.call('HGETALL', KEYS[4]),
  redis.call('ZRANGE', KEYS[5], 0, -1),
  unlisted,
  redis.call('HGET', KEYS[1], 'display') or '',
  redis.call('HGET', KEYS[1], 'words') or '',
  unindexed,
}
