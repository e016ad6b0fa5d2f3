-- create_session creates a session. If the user has too many sessions, it ends the least recently
-- used ones.
--
-- KEYS   1 account   2 session   3 sessions
-- ARGV   1 user   2 hash of the token   3 TTL in seconds   4 maximum number of sessions
--        5 session key prefix   6 user agent of the client, or ''
-- Reply  1, or 0 if there is no such account
--@include clock

if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return 0
end
local now = string.format('%.0f', unix_ms())
redis.call('HSET', KEYS[2], 'user', ARGV[1], 'gen', redis.call('HGET', KEYS[1], 'session_gen') or '0',
  'created', now, 'seen', now, 'agent', ARGV[6])
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', string.format('%.0f', tonumber(now) - 1000 * tonumber(ARGV[3])))
redis.call('ZADD', KEYS[3], now, ARGV[2])
redis.call('EXPIRE', KEYS[3], ARGV[3])
local surplus = redis.call('ZCARD', KEYS[3]) - tonumber(ARGV[4])
if surplus > 0 then
  for _, hash in ipairs(redis.call('ZRANGE', KEYS[3], 0, surplus - 1)) do
    redis.call('DEL', ARGV[5] .. hash)
    redis.call('ZREM', KEYS[3], hash)
  end
end
return 1
