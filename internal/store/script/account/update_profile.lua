-- update_profile sets fields of an active account, and announces the change to the processes that
-- cache authors.
--
-- KEYS   1 account   2 search words
-- ARGV   1 user   2… field, value, …
-- Reply  1, or 0 if there is no such account
--@include words
if redis.call('HGET', KEYS[1], 'state') ~= 'active' then
  return 0
end
if #ARGV > 1 then
  unindex_user(KEYS[1], KEYS[2], ARGV[1])
  redis.call('HSET', KEYS[1], unpack(ARGV, 2))
  index_user(KEYS[1], KEYS[2], ARGV[1])
  redis.call('PUBLISH', 'retwis:authors', ARGV[1])
end
return 1
