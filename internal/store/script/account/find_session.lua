-- find_session returns the owner of a session. It renews the TTL of a session that is in use.
--
-- KEYS   1 session
-- ARGV   1 account key prefix   2 sessions key prefix   3 hash of the token   4 TTL in seconds
--        5 seconds between renewals
-- Reply  { user, session generation, filter epoch }; { 'replaced' } after a change of password; {} if there is no
--        such session
--@include clock

local session = redis.call('HMGET', KEYS[1], 'user', 'gen', 'seen', 'replaced')
if session[4] then
  return { 'replaced' }
end
if not session[1] then
  return {}
end
local user = redis.call('HMGET', ARGV[1] .. session[1], 'state', 'session_gen', 'filter_epoch')
if user[1] ~= 'active' or (user[2] or '0') ~= session[2] then
  return {}
end
local now = unix_ms()
if now - tonumber(session[3]) > 1000 * tonumber(ARGV[5]) then
  local sessions = ARGV[2] .. session[1]
  redis.call('HSET', KEYS[1], 'seen', string.format('%.0f', now))
  redis.call('EXPIRE', KEYS[1], ARGV[4])
  redis.call('ZADD', sessions, string.format('%.0f', now), ARGV[3])
  redis.call('EXPIRE', sessions, ARGV[4])
end
return { session[1], session[2], user[3] or '0' }
