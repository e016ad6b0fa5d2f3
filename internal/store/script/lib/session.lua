-- end_all_sessions ends every session of a user and announces it. The new session generation makes
-- sessions invalid that are missing from the sorted set.
local function end_all_sessions(user_key, sessions, session_prefix, user, bucket)
  local generation = redis.call('HINCRBY', user_key, 'session_gen', 1)
  for _, hash in ipairs(redis.call('ZRANGE', sessions, 0, -1)) do
    redis.call('DEL', session_prefix .. hash)
  end
  redis.call('DEL', sessions)
  redis.call('PUBLISH', 'retwis:sessions', user .. ' ' .. bucket .. ' generation ' .. generation)
end
