-- activate_user finishes a registration: it makes the account usable, creates an empty home, adds the
-- user to the newest users and indexes the user for the people search.
--
-- KEYS   1 account   2 home   3 newest users   4 search words
-- ARGV   1 user   2 newest users to keep
-- Reply  1, or 0 if the account no longer exists
--@include words
local state = redis.call('HGET', KEYS[1], 'state')
if not state then
  return 0
end
if state == 'pending' then
  redis.call('HSET', KEYS[1], 'state', 'active')
  if redis.call('EXISTS', KEYS[2]) == 0 then
    redis.call('RPUSH', KEYS[2], '0')
  end
  redis.call('ZADD', KEYS[3], redis.call('HGET', KEYS[1], 'created'), ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[3], 0, -1 - tonumber(ARGV[2]))
  index_user(KEYS[1], KEYS[4], ARGV[1])
end
return 1
