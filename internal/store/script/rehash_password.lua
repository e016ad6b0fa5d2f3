-- rehash_password stores another hash of the same password.
--
-- KEYS   1 user
-- ARGV   1 hash
-- Reply  'ok'
if redis.call('HEXISTS', KEYS[1], 'password') == 1 then
  redis.call('HSET', KEYS[1], 'password', ARGV[1])
end
return 'ok'
