-- repair_newest_user adds an active user to the newest users, and removes any other.
--
-- KEYS   1 account   2 newest users
-- ARGV   1 user   2 newest users to keep
-- Reply  'ok'
local account = redis.call('HMGET', KEYS[1], 'state', 'created')
if account[1] == 'active' and account[2] then
  redis.call('ZADD', KEYS[2], account[2], ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - tonumber(ARGV[2]))
else
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return 'ok'
