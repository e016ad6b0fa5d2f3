-- change_password replaces a password hash if it is still the one that was verified, and ends every
-- session of the user. The session of the calling client is marked as replaced for a while.
--
-- KEYS   1 account   2 sessions
-- ARGV   1 user   2 bucket   3 session key prefix   4 old hash   5 new hash
--        6 hash of the token of the calling session, or ''   7 seconds until the mark expires
-- Reply  1, or 0 if the hash has changed
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
  local calling = ARGV[3] .. ARGV[6]
  redis.call('HSET', calling, 'replaced', '1')
  redis.call('EXPIRE', calling, ARGV[7])
end
return 1
