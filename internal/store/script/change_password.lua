-- change_password replaces a password hash, if it is still the one that was checked, and
-- closes every session of the user.
--
-- KEYS   1 user   2 sessions
-- ARGV   1 user   2 bucket   3 session key prefix   4 old hash   5 new hash
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
end_all(KEYS[1], KEYS[2], ARGV[3], ARGV[1], ARGV[2])
return 1
