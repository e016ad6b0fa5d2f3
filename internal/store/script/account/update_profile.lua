-- update_profile sets fields of an active account, and tells who remembers its author.
--
-- KEYS   1 user
-- ARGV   1 user   2… field, value, …
-- Reply  1, or 0 without such an account
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return 0
end
if #ARGV > 1 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 2))
  redis.call('PUBLISH', 'retwis:authors', ARGV[1])
end
return 1
