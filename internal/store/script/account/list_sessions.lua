-- list_sessions returns the active sessions of a user, the most recently used first.
--
-- KEYS   1 account   2 sessions
-- ARGV   1 session key prefix
-- Reply  for each session: hash of the token, creation time, time of last use, user agent
local user = redis.call('HMGET', KEYS[1], 'state', 'session_gen')
local reply = {}
if user[1] ~= 'active' then
  return reply
end
for _, hash in ipairs(redis.call('ZREVRANGE', KEYS[2], 0, -1)) do
  local session = redis.call('HMGET', ARGV[1] .. hash, 'gen', 'created', 'seen', 'agent')
  if session[1] and session[1] == (user[2] or '0') then
    for _, field in ipairs({ hash, session[2], session[3], session[4] or '' }) do
      table.insert(reply, field)
    end
  end
end
return reply
