-- rehash_password stores another hash of the same password, unless the password was
-- changed meanwhile.
--
-- KEYS   1 user
-- ARGV   1 old hash   2 new hash
-- Reply  1, or 0 when the stored hash is neither
local stored = redis.call('HGET', KEYS[1], 'password')
if stored == ARGV[2] then
  return 1
end
if stored ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'password', ARGV[2])
return 1
