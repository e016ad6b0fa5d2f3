-- rehash_password stores a new hash of the same password, unless the password has changed.
--
-- KEYS   1 account
-- ARGV   1 old hash   2 new hash
-- Reply  1, or 0 if the stored hash is neither of them
local stored = redis.call('HGET', KEYS[1], 'password')
if stored == ARGV[2] then
  return 1
end
if stored ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'password', ARGV[2])
return 1
