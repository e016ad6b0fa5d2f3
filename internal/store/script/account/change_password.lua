-- change_password replaces a password hash, if it is still the one that was checked, and
-- closes every session of the user. That of the client that asks leaves a mark behind.
--
-- KEYS   1 user   2 sessions
-- ARGV   1 user   2 bucket   3 session key prefix   4 old hash   5 new hash
--        6 hash of the token of the session that asks, or ''   7 seconds that the mark lives
-- Reply  1, or 0 when the hash is another one by now
--@include session
local stored = redis.call('HGET', KEYS[1], 'password')
if stored == ARGV[5] then
  return 1
end
if stored ~= ARGV[4] then
  return 0
end
redis.call('HSET', KEYS[1], 'password', ARGV[5])
end_all_sessions(KEYS[1], KEYS[2], ARGV[3], ARGV[1], ARGV[2])
if ARGV[6] ~= '' then
  local asking = ARGV[3] .. ARGV[6]
  redis.call('HSET', asking, 'replaced', '1')
  redis.call('EXPIRE', asking, ARGV[7])
end
return 1
